"""Letters and the two ways in which they leave: SMTP, and a folder of files on one machine."""
