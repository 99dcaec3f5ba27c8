"""What an operator watches: metrics, ids in the logs, error reports."""
