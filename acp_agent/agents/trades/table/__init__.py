"""From bytes to a table: encoding, delimiter, quoting, and which line is the header. Knows no trades' values."""
