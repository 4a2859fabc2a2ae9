"""The commands of `whist` by subject: what is asked, and with which options. `app` puts them together."""
