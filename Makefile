# Every target installs what it lacks. CI calls the same ones.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.PHONY: build demo test lint bench results openapi web clean help

CARGO ?= cargo
OUT := $(or $(CARGO_TARGET_DIR),target)

build: ## Build the braid command into target/release
	@scripts/install-packages build
	$(CARGO) build --release --locked --package braid

demo: build ## Show one transfer over every path of a small network (root); HOLD=1: go on, to look at the page
	@scripts/install-packages
	@[[ $$EUID == 0 ]] || { echo 'Networks are made of namespaces, which need root. Run: sudo $(OUT)/release/braid demo' >&2; exit 1; }
	@$(OUT)/release/braid demo $(if $(HOLD),--hold)

test: ## Run every test; those that need root are skipped without it
	@scripts/install-packages
	scripts/web check
	scripts/test

lint: ## Check format, lints, documentation, licences and sources of dependencies
	@scripts/install-packages build
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS='-D warnings -A rustdoc::private_intra_doc_links' $(CARGO) doc --workspace --no-deps --locked --quiet
	scripts/check-dependencies
	scripts/check-boundaries
	scripts/check-docs
	tests/docs/check_docs.py
	scripts/deny
	scripts/advisories
	tests/lint/planted.py

bench: ## Measure
	@scripts/install-packages build
	$(CARGO) bench --workspace --locked

results: build ## Measure what the papers measured (root), and write docs/results.md; ONLY=ci: a selection, and no page
	@scripts/install-packages
	@[[ $$EUID == 0 ]] || { echo 'Networks are made of namespaces, which need root. Run: sudo make results' >&2; exit 1; }
	@status=0; $(OUT)/release/braid results run $(if $(ONLY),--only $(ONLY)) $(if $(filter ci,$(ONLY)),--attempts 1) || status=$$?; \
	 [[ -n '$(ONLY)' || ( $$status != 0 && $$status != 5 ) ]] || $(OUT)/release/braid results show --write docs/results.md; \
	 exit $$status

openapi: ## Write the description of the API anew after a change of it, and the page's types (Node)
	@scripts/install-packages build
	BRAID_WRITE_OPENAPI=1 $(CARGO) test --locked --package braid-controller --test it the_description_in_git
	scripts/web types

web: ## Build the page anew after a change in web/ (Node)
	@scripts/install-packages
	scripts/web build

clean: ## Remove what was built
	$(CARGO) clean

help: ## Say what the targets do
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 16
