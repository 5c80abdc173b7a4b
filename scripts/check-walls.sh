#!/bin/sh
# Runs the tests of decoding and of readers in a container of Debian 13 as a restricted pod would have it: no capability,
# the default seccomp profile, a read-only root, another user, no network. There namespaces are forbidden and Landlock
# isolates. Needs root and Debian's packages; makes its base once, in the cache folder.
set -eu
cd "$(dirname "$0")/.."
root=${VISION_CACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/vision}/debian-13-ffmpeg
decoding='sandbox|image-decoder|decode-image|decoder|file-frames|file-budget|mp4-validation'
readers='reader-isolation|reader-restarts|hostile-(floods|http|rtsp|rtmp)|live-http'
patterns="services/inference/test/($decoding|$readers).test"

node_modules/.bin/node --conditions=@vision/source deploy/local/install.ts podman runc debootstrap
if [ ! -x "$root/usr/bin/ffmpeg" ]; then
  base=$(sh scripts/debian-base.sh)
  echo "debian 13  adding ffmpeg (only once)"
  rm -rf "$root.new" && cp -a "$base" "$root.new"
  chroot "$root.new" sh -c 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends ffmpeg' \
    >"$root.log" 2>&1 || { tail -n 5 "$root.log"; rm -rf "$root.new"; exit 1; }
  mv -T "$root.new" "$root"
fi
exec podman --runtime runc run --rm --network none --user 10001:10001 --cap-drop ALL \
  --security-opt no-new-privileges --read-only --tmpfs /tmp:mode=1777,size=2g \
  --ulimit nofile=1024:1024 --ulimit nproc=4096:4096 --volume "$PWD":/app:ro --workdir /app \
  --env HOME=/tmp --env ORT_DISABLE_TELEMETRY=1 \
  --env NODE_OPTIONS='--experimental-vm-modules --disable-warning=ExperimentalWarning' \
  --rootfs "$root" node_modules/.bin/node node_modules/jest/bin/jest.js --cacheDirectory /tmp/jest \
  --selectProjects integration --maxWorkers=1 --testTimeout=60000 --testPathPatterns "$patterns"
