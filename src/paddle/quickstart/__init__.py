"""The quickstart: a network learns handwritten digits, is saved, loaded in another process and used."""
