#!/bin/sh
# Asks the service with curl and with buf: npx -c 'sh examples/shell.sh [URL] [LOCALE]'
set -eu
url=${1:-http://127.0.0.1:8787}
locale=${2:-de}
call=$url/locations.v1.LocationsService/GetLocationsV1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

echo "Connect, JSON over POST:"
curl --silent --show-error --fail-with-body --compressed --dump-header "$folder/head" \
  --header 'content-type: application/json' --data "{\"locale\":\"$locale\"}" \
  --output "$folder/post.json" "$call"
grep -i '^catalog-version:' "$folder/head" | tr -d '\r'
echo "bytes: $(wc -c < "$folder/post.json" | tr -d ' ')"

echo "Connect over GET, which caches may keep, and then again with its ETag:"
message=$(printf '{"locale":"%s"}' "$locale" | sed 's/{/%7B/; s/}/%7D/; s/"/%22/g; s/:/%3A/')
get="$call?connect=v1&encoding=json&message=$message"
curl --silent --show-error --compressed --etag-save "$folder/etag" --output "$folder/get.json" \
  --write-out 'first: %{http_code}\n' "$get"
curl --silent --show-error --compressed --etag-compare "$folder/etag" --output /dev/null \
  --write-out 'again: %{http_code}\n' "$get"
cmp "$folder/post.json" "$folder/get.json" && echo "the same bytes"

echo "gRPC-Web with buf, which checks the answer against the contract:"
buf curl --schema "$url/locations.binpb" --protocol grpcweb --data "{\"locale\":\"$locale\"}" "$call" > "$folder/buf.json"
echo "Munich: $(grep -c '"iata": *"MUC"' "$folder/buf.json" || true) line(s) with MUC"

echo "A mistake, and what the service says about it:"
curl --silent --show-error --header 'content-type: application/json' \
  --data '{"locale":"not a tag"}' --write-out '\nstatus: %{http_code}\n' "$call"
