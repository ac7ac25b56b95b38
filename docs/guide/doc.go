// Package guide embeds the guide for clients: chapters in Markdown. A fence may name a
// file behind its language, as in "```python book.py". internal/describe serves the
// chapters and these files; a test of cmd/bourse runs every command of the guide.
package guide
