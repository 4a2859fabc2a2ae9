"""English, Solo, Knockout and German Whist: the games of 52 cards, whose older tricks lie face down (W2)."""
