"""What a transfer, a hold and a settlement are; pure."""
