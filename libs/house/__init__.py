"""The platform's rules that several services need: rooms, prizes, days and weeks, VIP days, who counts, experience.

Pure: standard library alone, no clock, no randomness; the only file ever read is `config/platform.toml`, by
`libs.house.platform.load`.
"""
