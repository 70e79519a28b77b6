"""What tests share: helpers with a use in more than one file, and no tests."""
