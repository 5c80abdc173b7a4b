#!/bin/sh
# Runs the tests of decoding in a container of Debian 13 as a restricted pod would have it: no capability, the default
# seccomp profile, a read-only root, another user, no network. There namespaces are forbidden and Landlock is the wall.
# Needs root and Debian's packages; makes its base once, in .local/cache.
set -eu
cd "$(dirname "$0")/.."
root=$PWD/.local/cache/debian-13-ffmpeg
patterns='services/inference/test/(sandbox|picture-decoder|decode-image|decoder|file-frames).test'

missing=
for program in podman runc; do command -v "$program" >/dev/null || missing="$missing $program"; done
if [ -n "$missing" ]; then
  echo "apt        installing$missing"
  { apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $missing; } >/dev/null
fi
if [ ! -x "$root/usr/bin/ffmpeg" ]; then
  base=$(sh scripts/debian-base.sh)
  echo "debian 13  adding ffmpeg (only once)"
  rm -rf "$root" && cp -a "$base" "$root"
  chroot "$root" sh -c 'apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends ffmpeg' \
    >"$root.log" 2>&1 || { tail -n 5 "$root.log"; rm -rf "$root"; exit 1; }
fi
exec podman --runtime runc run --rm --network none --user 10001:10001 --cap-drop ALL \
  --security-opt no-new-privileges --read-only --tmpfs /tmp:mode=1777,size=2g \
  --ulimit nofile=1024:1024 --ulimit nproc=4096:4096 --volume "$PWD":/app:ro --workdir /app \
  --env HOME=/tmp --env ORT_DISABLE_TELEMETRY=1 \
  --env NODE_OPTIONS='--experimental-vm-modules --disable-warning=ExperimentalWarning' \
  --rootfs "$root" node_modules/.bin/node node_modules/jest/bin/jest.js --cacheDirectory /tmp/jest \
  --selectProjects integration --maxWorkers=1 --testTimeout=60000 --testPathPatterns "$patterns"
