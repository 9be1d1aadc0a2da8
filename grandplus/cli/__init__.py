"""What a person types: a verb a file, all behind the one command ``grandplus``."""
