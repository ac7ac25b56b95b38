module github.com/bourse-exchange/bourse

go 1.26

require pgregory.net/rapid v1.3.0

require github.com/tidwall/btree v1.8.2 // indirect
