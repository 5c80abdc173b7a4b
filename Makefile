# `make help` lists what there is.
SHELL := /bin/sh
.DEFAULT_GOAL := help
NODE := node_modules/.bin/node --conditions=@vision/source --disable-warning=TimeoutNegativeWarning
LOCAL := $(NODE) deploy/local/main.ts

.PHONY: help packages infra down test-infra test-down

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | awk -F'\t' '{ printf "make %-14s %s\n", $$1, $$2 }'

packages:
	@node scripts/ensure-packages.js

infra: packages ## start only Kafka, PostgreSQL, Redis and S3
	@$(LOCAL) infra

down: packages ## stop what `make up` and `make infra` started
	@$(LOCAL) down

test-infra: packages ## start the copy for tests; its addresses are in .local/test/env
	@$(LOCAL) test-infra

test-down: packages ## stop the copy for tests
	@$(LOCAL) test-down
