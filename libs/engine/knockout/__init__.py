"""Knockout Whist (K1–K3): hands of seven down to one; who takes no trick is out."""
