module github.com/bourse-exchange/bourse/bench

go 1.26.0
