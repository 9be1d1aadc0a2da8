"""Arrays and matrices in files, checked before they are believed."""
