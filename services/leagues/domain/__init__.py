"""What a finished game and a prize mean for an account: values in, values out."""
