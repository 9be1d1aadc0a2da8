"""Tables of text and Parquet: ids, classes and features in them."""
