{{/*
Policies: what is not allowed here is denied, in both directions. Who calls whom and which stores a service has follows
from files/facts.json.
*/}}

{{/* One peer: the pods of a component of this release. (root, name) */}}
{{- define "vision.peer" -}}
- podSelector:
    matchLabels:
      {{- include "vision.selector" . | nindent 6 }}
{{- end -}}

{{/* A rule to a store; one without `to`, which would allow any address, is refused before. (store) */}}
{{- define "vision.storeRule" -}}
{{- if and .store.ports .store.to }}
- ports:
    {{- range .store.ports }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
  to:
    {{- toYaml .store.to | nindent 4 }}
{{- end }}
{{- end -}}

{{/* The agent of EKS Pod Identity, at the addresses that every node has for it. */}}
{{- define "vision.podIdentityRule" }}
- ports: [{ protocol: TCP, port: 80 }]
  to:
    - ipBlock: { cidr: 169.254.170.23/32 }
    - ipBlock: { cidr: 'fd00:ec2::23/128' }
{{- end -}}

{{- define "vision.dnsRule" -}}
{{- $dns := .Values.networkPolicy.dns -}}
- ports:
    {{- range $dns.ports }}
    - { protocol: UDP, port: {{ . }} }
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
  {{- with $dns.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* Addresses that are not public: RFC 6890 and what came after it; the same as services refuse in
addresses that callers name. */}}
{{- define "vision.notPublic" -}}
[0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 168.63.129.16/32, 169.254.0.0/16, 172.16.0.0/12, 192.0.0.0/24, 192.0.2.0/24, 192.88.99.0/24, 192.168.0.0/16, 198.18.0.0/15, 198.51.100.0/24, 203.0.113.0/24, 224.0.0.0/4, 240.0.0.0/4]
{{- end -}}

{{- define "vision.notPublicV6" -}}
[2001::/23, 2001:db8::/32, 2002::/16, 3fff::/20]
{{- end -}}

{{/*
To addresses that callers name: public ones on the ports that they may name, and the networks that are allowed besides
on any port. (root, name, rules: allowedPorts, allowedCidrs, dnsServers, setting: what the ports are when none are given)
*/}}
{{- define "vision.namedAddressRules" -}}
{{- $policy := .root.Values.networkPolicy -}}
{{- $known := include "vision.setting" (dict "root" .root "name" .name "setting" .setting) | replace " " "" | splitList "," -}}
- ports:
    {{- range .rules.allowedPorts | default $known }}
    {{- $range := splitList "-" (. | toString) }}
    - { protocol: TCP, port: {{ first $range }}{{ if gt (len $range) 1 }}, endPort: {{ last $range }}{{ end }} }
    {{- end }}
  to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except:
          {{- range include "vision.notPublic" . | fromYamlArray }}
          - {{ . }}
          {{- end }}
          {{- range $policy.notPublic }}
          {{- if not (contains ":" .) }}
          - {{ . }}
          {{- end }}
          {{- end }}
    {{- if $policy.ipv6 }}
    - ipBlock:
        cidr: 2000::/3
        except:
          {{- range include "vision.notPublicV6" . | fromYamlArray }}
          - {{ . | quote }}
          {{- end }}
          {{- range $policy.notPublic }}
          {{- if contains ":" . }}
          - {{ . | quote }}
          {{- end }}
          {{- end }}
    {{- end }}
{{- with .rules.allowedCidrs }}
- to:
    {{- range . }}
    - ipBlock: { cidr: {{ . | quote }} }
    {{- end }}
{{- end }}
{{- range .rules.dnsServers }}
{{- $server := include "vision.nameServer" . | fromJson }}
- ports: [{ protocol: UDP, port: {{ $server.port }} }, { protocol: TCP, port: {{ $server.port }} }]
  to:
    - ipBlock: { cidr: {{ $server.cidr | quote }} }
{{- end }}
{{- end -}}

{{/* A name server such as 192.0.2.53, 192.0.2.53:5353, 2001:db8::53 or [2001:db8::53]:5353 as JSON: {cidr, port}. */}}
{{- define "vision.nameServer" -}}
{{- $parts := splitList ":" . -}}
{{- if hasPrefix "[" . -}}
{{- dict "cidr" (printf "%s/128" (regexFind "[^][]+" .)) "port" (regexFind "[0-9]+$" . | default "53" | int) | toJson -}}
{{- else if gt (len $parts) 2 -}}
{{- dict "cidr" (printf "%s/128" .) "port" 53 | toJson -}}
{{- else -}}
{{- dict "cidr" (printf "%s/32" (first $parts)) "port" (rest $parts | first | default "53" | int) | toJson -}}
{{- end -}}
{{- end -}}

{{/* Rules to the stores that a service has settings for. (root, facts) */}}
{{- define "vision.storeRules" -}}
{{- $stores := .root.Values.networkPolicy.stores -}}
{{- /* Sentinels tell where the primary is, beside it. */}}
{{- $sentinels := list -}}
{{- range .root.Values.redis.sentinel.addresses -}}{{- $sentinels = append $sentinels (regexFind "[0-9]+$" . | int) -}}{{- end -}}
{{- if $sentinels -}}
{{- $redis := set (deepCopy $stores.redis) "ports" (concat $stores.redis.ports $sentinels | uniq) -}}
{{- $stores = set (deepCopy $stores) "redis" $redis -}}
{{- end -}}
{{- $byName := dict "DATABASE_URL" $stores.database "REDIS_URL" $stores.redis "KAFKA_BROKERS" $stores.kafka "S3_ENDPOINT" $stores.objectStore -}}
{{- range $setting, $store := $byName -}}
{{- if has $setting $.facts.wired -}}
{{- include "vision.storeRule" (dict "store" $store) -}}
{{- end -}}
{{- end -}}
{{- if and .root.Values.objectStore.podIdentity.enabled (has "S3_ENDPOINT" .facts.wired) -}}
{{- include "vision.podIdentityRule" . -}}
{{- end -}}
{{- if and (eq .root.Values.kafka.sasl.mechanism "oauthbearer") (has "KAFKA_BROKERS" .facts.wired) -}}
{{- include "vision.storeRule" (dict "store" $stores.kafkaTokens) -}}
{{- end -}}
{{- if .root.Values.tracing.endpoint -}}
{{- include "vision.storeRule" (dict "store" $stores.tracing) -}}
{{- end -}}
{{- if .facts.decodes -}}
{{- include "vision.storeRule" (dict "store" $stores.modelServers) -}}
{{- end -}}
{{- if and .root.Values.inferenceBackend.url (has "INFERENCE_URL" .facts.wired) -}}
{{- include "vision.storeRule" (dict "store" $stores.inferenceBackend) -}}
{{- end -}}
{{- end -}}

{{/* Who may come in. (root, name, c, facts) */}}
{{- define "vision.ingressRules" -}}
{{- $policy := .root.Values.networkPolicy -}}
{{- if eq .name "gateway" }}
- ports: [{ protocol: TCP, port: http }]
  {{- with $policy.gatewayFrom }}
  from:
    {{- toYaml . | nindent 4 }}
    {{- include "vision.peer" (dict "root" $.root "name" "test") | nindent 4 }}
  {{- end }}
- ports: [{ protocol: TCP, port: admin }]
  from:
    {{- include "vision.peer" (dict "root" .root "name" "test") | nindent 4 }}
    {{- with $policy.adminFrom }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- else }}
- ports: [{ protocol: TCP, port: http }]
  from:
    {{- range .facts.calledBy }}
    {{- include "vision.peer" (dict "root" $.root "name" .) | nindent 4 }}
    {{- end }}
{{- end }}
{{- with $policy.metricsFrom }}
- ports: [{ protocol: TCP, port: health }]
  from:
    {{- toYaml . | nindent 4 }}
{{- end }}
{{- end -}}

{{- define "vision.networkPolicy" -}}
{{- if .root.Values.networkPolicy.enabled }}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "vision.metadata" . | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      {{- include "vision.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    {{- include "vision.ingressRules" . | trim | nindent 4 }}
  egress:
    {{- include "vision.dnsRule" .root | nindent 4 }}
    {{- range .facts.calls }}
    {{- $callee := include "vision.component" (dict "root" $.root "name" .) | fromJson }}
    {{- if $callee.enabled }}
    - ports: [{ protocol: TCP, port: http }]
      to:
        {{- include "vision.peer" (dict "root" $.root "name" .) | nindent 8 }}
    {{- end }}
    {{- end }}
    {{- include "vision.storeRules" . | trim | nindent 4 }}
    {{- if .facts.opensStreams }}
    {{- include "vision.namedAddressRules" (dict "root" .root "name" .name "rules" .root.Values.streams "setting" "STREAM_ALLOWED_PORTS") | nindent 4 }}
    {{- end }}
    {{- if .facts.sendsWebhooks }}
    {{- include "vision.namedAddressRules" (dict "root" .root "name" .name "rules" .root.Values.webhooks "setting" "WEBHOOK_ALLOWED_PORTS") | nindent 4 }}
    {{- $brokers := dict "allowedPorts" .root.Values.webhooks.mqttPorts }}
    {{- include "vision.namedAddressRules" (dict "root" .root "name" .name "rules" $brokers "setting" "MQTT_ALLOWED_PORTS") | nindent 4 }}
    {{- end }}
{{- end }}
{{- end -}}
