"""How single cells are read: numbers, dates, sides, currencies. Knows no files, tables or reference data."""
