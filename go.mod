module github.com/bourse-exchange/bourse

go 1.26
