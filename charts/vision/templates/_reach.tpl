{{/* Whether the network policies let pods reach what the values name. Addresses that stand in Secrets are not known. */}}
{{- define "vision.validateReach" -}}
{{- $root := . -}}
{{- $v := .Values -}}
{{- $asked := list
  (dict "value" "objectStore.endpoint" "address" $v.objectStore.endpoint "store" "objectStore")
  (dict "value" "redis.url" "address" $v.redis.url "store" "redis")
  (dict "value" "tracing.endpoint" "address" $v.tracing.endpoint "store" "tracing")
  (dict "value" "inferenceBackend.url" "address" $v.inferenceBackend.url "store" "inferenceBackend") -}}
{{- range $v.redis.sentinel.addresses -}}
{{- $asked = append $asked (dict "value" "redis.sentinel.addresses" "address" . "store" "redis") -}}
{{- end -}}
{{- range $v.kafka.brokers -}}
{{- $asked = append $asked (dict "value" "kafka.brokers" "address" . "store" "kafka") -}}
{{- end -}}
{{- if eq $v.kafka.sasl.mechanism "oauthbearer" -}}
{{- $asked = append $asked (dict "value" "kafka.sasl.oauth.tokenUrl" "address" $v.kafka.sasl.oauth.tokenUrl "store" "kafkaTokens") -}}
{{- end -}}
{{- range $name, $own := $v.components -}}
{{- $c := include "vision.component" (dict "root" $root "name" $name) | fromJson -}}
{{- if $c.enabled -}}
{{- $asked = append $asked (dict "value" "database.url" "address" ($c.database.url | default $v.database.url) "store" "database") -}}
{{- end -}}
{{- end -}}
{{- if and $v.scenes.json (not $v.scenes.existingConfigMap) (not $v.inferenceBackend.url) -}}
{{- range $name, $detector := (fromJson $v.scenes.json).detectors -}}
{{- $asked = append $asked (dict "value" (printf "detector %s" $name) "address" ($detector.url | default "") "store" "modelServers") -}}
{{- end -}}
{{- end -}}
{{- range $asked -}}
{{- if .address -}}
{{- include "vision.validateReachOf" (dict "asked" . "store" (index $v.networkPolicy.stores .store)) -}}
{{- end -}}
{{- end -}}
{{- range $name, $store := $v.networkPolicy.stores -}}
{{- if and $store.ports (not $store.to) (or (ne $name "tracing") $v.tracing.endpoint) -}}
{{- fail (printf "networkPolicy.stores.%s.to is empty, which would let pods reach any address on its ports: name where it is, such as [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: stores}}}] or [{ipBlock: {cidr: 10.20.0.0/24}}]." $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
One address. Inside the cluster its port is that of a Service, and a policy is about the ports of pods, so only that
there is any rule is asked. An address outside is no pod's: only a block of addresses can allow it.
(asked: value, address, store; store)
*/}}
{{- define "vision.validateReachOf" -}}
{{- $parts := regexReplaceAll "^(([a-z]+)://)?([^/@]*@)?(\\[[^]]*\\]|[^:/?]+)(:([0-9]+))?.*$" .asked.address "${2} ${4} ${6}" | splitList " " -}}
{{- $usual := dict "http" "80" "https" "443" "postgres" "5432" "postgresql" "5432" "redis" "6379" "rediss" "6379" -}}
{{- $host := index $parts 1 -}}
{{- $port := index $parts 2 | default (get $usual (first $parts)) | int -}}
{{- $isOutside := and (regexMatch "^\\[|\\..*\\." $host) (not (regexMatch "\\.svc(\\.|$)" $host)) -}}
{{- $open := list -}}
{{- range .store.ports -}}{{- $open = append $open (int .) -}}{{- end -}}
{{- if or (not $open) (and $isOutside (not (has $port $open))) -}}
{{- fail (printf "The network policies let no pod reach port %d of %s (%s): add it to networkPolicy.stores.%s.ports." $port $host .asked.value .asked.store) -}}
{{- end -}}
{{- if and $isOutside .store.to (not (include "vision.namesAddresses" .store)) -}}
{{- fail (printf "%s (%s) is outside of the cluster, and networkPolicy.stores.%s.to names pods only: set it to the addresses, such as [{ipBlock: {cidr: 10.20.0.0/24}}]." $host .asked.value .asked.store) -}}
{{- end -}}
{{- end -}}

{{/* Not empty when one of the peers of a store is a block of addresses. */}}
{{- define "vision.namesAddresses" -}}
{{- range .to -}}{{- if .ipBlock -}}yes{{- end -}}{{- end -}}
{{- end -}}
