module github.com/bourse-exchange/bourse

go 1.26

require pgregory.net/rapid v1.3.0

require (
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/tidwall/btree v1.8.2 // indirect
)
