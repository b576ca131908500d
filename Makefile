# Every target, and what it does: `make help`.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: test
test: ## format, vet, static analysis, all tests with the race detector; PKG=./gate/... for some
	@scripts/test.sh

.PHONY: quick
quick: ## tests only, short ones, without the race detector; PKG as above
	@go test -short $(or $(PKG),./...)

.PHONY: deps
deps: ## install the servers and browser that tests use (Debian, root or sudo)
	@scripts/deps.sh

.PHONY: build
build: ## a static binary, bin/spillway
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/spillway ./cmd/spillway

.PHONY: bench
bench: ## benchmarks, ours and against peers; BENCH=regexp, BENCHTIME=1s, COUNT=1
	go test -run '^$$' -bench '$(or $(BENCH),.)' -benchmem -benchtime $(or $(BENCHTIME),1s) -count $(or $(COUNT),1) ./...
	@if [ -f bench/go.mod ]; then cd bench && set -x && \
		go test -run '^$$' -bench '$(or $(BENCH),.)' -benchmem -benchtime $(or $(BENCHTIME),1s) -count $(or $(COUNT),1) -timeout 60m ./...; fi

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME=10s; FUZZ=regexp for some
	@scripts/fuzz.sh

.PHONY: soak
soak: ## half an hour of everything at once against a gateway; SOAK=30m
	SPILLWAY_SOAK=$(or $(SOAK),30m) go test -v -count 1 -timeout 0 ./test/soak

.PHONY: chaos
chaos: ## processes killed at random under load, N=20 times each; see docs/chaos.md
	SPILLWAY_KILLS=$(or $(N),20) go test -v -count 1 -timeout 0 -run 'Killed$$' ./ledger/sqlite ./ledger/postgres ./gateway

.PHONY: docs
docs: ## write the generated pages and tables anew
	go generate ./...

.PHONY: tidy
tidy: ## go.mod and go.sum as the imports need them, in every module
	go mod tidy
	cd tools && go mod tidy
	@if [ -f bench/go.mod ]; then cd bench && go mod tidy; fi
