module github.com/bourse-exchange/bourse

go 1.26

require pgregory.net/rapid v1.3.0
