"""Getting a dataset's files from the places that its card names, and checking each one."""
