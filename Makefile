# `make` lists the targets.

GO       ?= go
BIN      := bin
TOOLS    := $(BIN)/tools
PACKAGES ?= ./...

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets.
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/bourse.
	$(GO) build -trimpath -o $(BIN)/bourse ./cmd/bourse

.PHONY: test
test: ## Run all tests.
	$(GO) test $(PACKAGES)

.PHONY: race
race: ## Run all tests with the race detector.
	$(GO) test -race $(PACKAGES)

.PHONY: check
check: fmt lint quick ## What must pass before a commit: format, lint, layers, quick tests.

.PHONY: fmt
fmt: ## Fail if a file is not formatted.
	@files=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	if [ -n "$$files" ]; then echo "not gofmt-ed (run gofmt -w):"; echo "$$files"; exit 1; fi

.PHONY: lint
lint: $(TOOLS)/golangci-lint ## Run vet and the linters.
	$(GO) vet $(PACKAGES)
	$(TOOLS)/golangci-lint run $(PACKAGES)

.PHONY: quick
quick: ## Run the quick tests.
	$(GO) test -short $(PACKAGES)

$(TOOLS)/%: tools/go.mod
	@echo "building $* (once)"
	@mkdir -p $(TOOLS)
	@cd tools && $(GO) build -o ../$(TOOLS)/ tool
	@touch $(TOOLS)/*
