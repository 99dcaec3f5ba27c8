"""What an operator watches: metrics for Prometheus."""
