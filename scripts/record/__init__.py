"""The record of experiments: manifest, ledgers, tables and the docs that show them. See scripts/experiments."""
