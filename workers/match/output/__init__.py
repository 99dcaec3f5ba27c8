"""What a match writes and prints: the record file, its state for `-resume`, game logs, tables and reports."""
