.PHONY: build
build:
	@tools/build.sh
