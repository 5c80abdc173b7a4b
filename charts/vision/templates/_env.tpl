{{/*
Variables of the services. files/facts.json, which is written from their configuration schemas, says which names each
of them reads: of everything below a service gets just those, so no service holds a secret of another.
*/}}

{{/*
What this chart decides, by name, as JSON: {"value": …} or {"secret": …, "key": …}. Names without an entry are left to
the defaults of the code. (root, name, c)
*/}}
{{- define "vision.wiring" -}}
{{- $v := .root.Values -}}
{{- $w := dict
  "PORT" (dict "value" .c.ports.http)
  "HEALTH_PORT" (dict "value" .c.ports.health)
  "DATABASE_POOL" (dict "value" .c.database.pool)
  "S3_ENDPOINT" (dict "value" $v.objectStore.endpoint)
  "S3_REGION" (dict "value" $v.objectStore.region)
  "S3_BUCKET" (dict "value" $v.objectStore.bucket)
  "DRAIN_DELAY_MS" (dict "value" (mul $v.stop.drainDelaySeconds 1000))
  "SHUTDOWN_GRACE_MS" (dict "value" (mul $v.stop.requestGraceSeconds 1000)) -}}
{{- with .c.ports.admin -}}{{- $_ := set $w "ADMIN_PORT" (dict "value" .) -}}{{- end -}}
{{- range list "tasks" "images" "results" "quota" "notify" -}}
{{- $_ := set $w (printf "%s_URL" (upper .)) (dict "value" (include "vision.url" (dict "root" $.root "name" .))) -}}
{{- $_ := set $w (printf "%s_REPLICAS_URL" (upper .)) (dict "value" (include "vision.replicasUrl" (dict "root" $.root "name" .))) -}}
{{- end -}}
{{- $backend := $v.inferenceBackend.url | default (include "vision.url" (dict "root" .root "name" "inference")) -}}
{{- $_ := set $w "INFERENCE_URL" (dict "value" $backend) -}}
{{- if not $v.inferenceBackend.url -}}
{{- $_ := set $w "INFERENCE_REPLICAS_URL" (dict "value" (include "vision.replicasUrl" (dict "root" .root "name" "inference"))) -}}
{{- end -}}
{{- if or $v.scenes.json $v.scenes.existingConfigMap -}}
{{- $_ := set $w "SCENES_FILE" (dict "value" "/etc/vision/scenes/scenes.json") -}}
{{- end -}}
{{- with $v.streams.allowedCidrs -}}{{- $_ := set $w "STREAM_ALLOWED_CIDRS" (dict "value" (join "," .)) -}}{{- end -}}
{{- with $v.streams.allowedPorts -}}{{- $_ := set $w "STREAM_ALLOWED_PORTS" (dict "value" (join "," .)) -}}{{- end -}}
{{- with $v.streams.dnsServers -}}{{- $_ := set $w "STREAM_DNS_SERVERS" (dict "value" (join "," .)) -}}{{- end -}}
{{- with $v.webhooks.allowedCidrs -}}{{- $_ := set $w "WEBHOOK_ALLOWED_CIDRS" (dict "value" (join "," .)) -}}{{- end -}}
{{- with $v.webhooks.allowedPorts -}}{{- $_ := set $w "WEBHOOK_ALLOWED_PORTS" (dict "value" (join "," .)) -}}{{- end -}}
{{- with $v.webhooks.mqttPorts -}}{{- $_ := set $w "MQTT_ALLOWED_PORTS" (dict "value" (join "," .)) -}}{{- end -}}
{{- with $v.webhooks.dnsServers -}}{{- $_ := set $w "WEBHOOK_DNS_SERVERS" (dict "value" (join "," .)) -}}{{- end -}}
{{- range $name, $file := include "vision.files" . | fromJson -}}
{{- $_ := set $w $name (dict "value" $file.path) -}}
{{- end -}}
{{- $all := merge $w (include "vision.databaseWiring" . | fromJson) (include "vision.kafkaWiring" . | fromJson) (include "vision.storeWiring" . | fromJson) (include "vision.secretWiring" . | fromJson) -}}
{{- $all | toJson -}}
{{- end -}}

{{/* Address and password of the database of a component. (root, name, c) */}}
{{- define "vision.databaseWiring" -}}
{{- $d := .root.Values.database -}}
{{- $own := .c.database -}}
{{- $secret := include "vision.named" (dict "text" ($own.existingSecret | default $d.existingSecret) "name" .name) -}}
{{- $url := include "vision.named" (dict "text" ($own.url | default $d.url) "name" .name) -}}
{{- $w := dict -}}
{{- if $url -}}
{{- $key := include "vision.named" (dict "text" ($own.passwordKey | default $d.passwordKey) "name" .name) -}}
{{- $_ := set $w "DATABASE_URL" (dict "value" $url) -}}
{{- $_ := set $w "DATABASE_PASSWORD" (dict "secret" $secret "key" $key) -}}
{{- else -}}
{{- $key := include "vision.named" (dict "text" ($own.urlKey | default $d.urlKey) "name" .name) -}}
{{- $_ := set $w "DATABASE_URL" (dict "secret" $secret "key" $key) -}}
{{- end -}}
{{- with include "vision.named" (dict "text" $d.sessionUrl "name" .name) -}}
{{- $_ := set $w "DATABASE_SESSION_URL" (dict "value" .) -}}
{{- end -}}
{{- if not (kindIs "invalid" $d.tls) -}}{{- $_ := set $w "DATABASE_TLS" (dict "value" $d.tls) -}}{{- end -}}
{{- $w | toJson -}}
{{- end -}}

{{/* Brokers, and how a component shows who it is. (root, name) */}}
{{- define "vision.kafkaWiring" -}}
{{- $k := .root.Values.kafka -}}
{{- $w := dict "KAFKA_BROKERS" (dict "value" (join "," $k.brokers)) "TOPICS" (dict "value" ($k.topics | toJson)) -}}
{{- with $k.topicPrefix -}}{{- $_ := set $w "TOPIC_PREFIX" (dict "value" .) -}}{{- end -}}
{{- if $k.tls.enabled -}}{{- $_ := set $w "KAFKA_TLS" (dict "value" true) -}}{{- end -}}
{{- with $k.sasl.mechanism -}}
{{- $secret := include "vision.named" (dict "text" $k.sasl.existingSecret "name" $.name) -}}
{{- $_ := set $w "KAFKA_SASL_MECHANISM" (dict "value" .) -}}
{{- if eq . "oauthbearer" -}}
{{- $o := $k.sasl.oauth -}}
{{- $_ := set $w "KAFKA_OAUTH_TOKEN_URL" (dict "value" $o.tokenUrl) -}}
{{- with $o.scope -}}{{- $_ := set $w "KAFKA_OAUTH_SCOPE" (dict "value" .) -}}{{- end -}}
{{- if $o.clientId -}}
{{- $_ := set $w "KAFKA_OAUTH_CLIENT_ID" (dict "value" (include "vision.named" (dict "text" $o.clientId "name" $.name))) -}}
{{- else -}}
{{- $_ := set $w "KAFKA_OAUTH_CLIENT_ID" (dict "secret" $secret "key" $o.clientIdKey) -}}
{{- end -}}
{{- $_ := set $w "KAFKA_OAUTH_CLIENT_SECRET" (dict "secret" $secret "key" $o.clientSecretKey) -}}
{{- else -}}
{{- if $k.sasl.username -}}
{{- $_ := set $w "KAFKA_USERNAME" (dict "value" (include "vision.named" (dict "text" $k.sasl.username "name" $.name))) -}}
{{- else -}}
{{- $_ := set $w "KAFKA_USERNAME" (dict "secret" $secret "key" $k.sasl.usernameKey) -}}
{{- end -}}
{{- $_ := set $w "KAFKA_PASSWORD" (dict "secret" $secret "key" $k.sasl.passwordKey) -}}
{{- end -}}
{{- end -}}
{{- $w | toJson -}}
{{- end -}}

{{/* Redis and S3. (root) */}}
{{- define "vision.storeWiring" -}}
{{- $r := .root.Values.redis -}}
{{- $s := .root.Values.objectStore -}}
{{- $w := dict -}}
{{- if $r.url -}}
{{- $_ := set $w "REDIS_URL" (dict "value" $r.url) -}}
{{- if and $r.existingSecret $r.passwordKey -}}{{- $_ := set $w "REDIS_PASSWORD" (dict "secret" $r.existingSecret "key" $r.passwordKey) -}}{{- end -}}
{{- else -}}
{{- $_ := set $w "REDIS_URL" (dict "secret" $r.existingSecret "key" $r.urlKey) -}}
{{- end -}}
{{- with $r.sentinel.addresses -}}
{{- $_ := set $w "REDIS_SENTINELS" (dict "value" (join "," .)) -}}
{{- $_ := set $w "REDIS_SENTINEL_NAME" (dict "value" $r.sentinel.name) -}}
{{- with $r.sentinel.passwordKey -}}{{- $_ := set $w "REDIS_SENTINEL_PASSWORD" (dict "secret" $r.existingSecret "key" .) -}}{{- end -}}
{{- end -}}
{{- if $s.webIdentity.enabled -}}
{{- with $s.webIdentity.stsEndpoint -}}{{- $_ := set $w "S3_STS_ENDPOINT" (dict "value" .) -}}{{- end -}}
{{- with $s.webIdentity.roleArn -}}
{{- $_ := set $w "AWS_ROLE_ARN" (dict "value" .) -}}
{{- $_ := set $w "AWS_WEB_IDENTITY_TOKEN_FILE" (dict "value" "/var/run/secrets/vision/s3-token/token") -}}
{{- end -}}
{{- else if not $s.podIdentity.enabled -}}
{{- $_ := set $w "S3_ACCESS_KEY" (dict "secret" $s.existingSecret "key" $s.accessKeyKey) -}}
{{- $_ := set $w "S3_SECRET_KEY" (dict "secret" $s.existingSecret "key" $s.secretKeyKey) -}}
{{- end -}}
{{- $w | toJson -}}
{{- end -}}

{{/* The secrets of the services themselves. (root, name) */}}
{{- define "vision.secretWiring" -}}
{{- $w := dict -}}
{{- $entries := dict "ADMIN_TOKEN" "adminToken" "API_KEY_PEPPERS" "apiKeyPeppers" "STREAM_URL_KEY" "streamUrlKey" "SERVICE_PUBLIC_KEYS" "servicePublicKeys" "INFERENCE_TOKEN" "inferenceToken" "LINK_KEYS" "linkKeys" "WEBHOOK_KEYS" "webhookKeys" "CURSOR_KEYS" (printf "%sCursorKeys" .name) "SERVICE_KEY" (printf "%sServiceKey" .name) -}}
{{- range $variable, $entry := $entries -}}
{{- if hasKey $.root.Values.secrets $entry -}}
{{- with include "vision.secretOf" (dict "root" $.root "entry" $entry) -}}
{{- $_ := set $w $variable (dict "secret" . "key" (index $.root.Values.secrets $entry).key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $w | toJson -}}
{{- end -}}

{{/*
Files of certificates, as JSON by the setting that names them: {path, volume, secret, key}. (root, name)
*/}}
{{- define "vision.files" -}}
{{- $v := .root.Values -}}
{{- $files := dict -}}
{{- with $v.database.ca.existingSecret -}}
{{- $_ := set $files "DATABASE_CA_FILE" (dict "volume" "database-ca" "secret" . "key" $v.database.ca.key) -}}
{{- end -}}
{{- with $v.redis.ca.existingSecret -}}
{{- $_ := set $files "REDIS_CA_FILE" (dict "volume" "redis-ca" "secret" . "key" $v.redis.ca.key) -}}
{{- end -}}
{{- with $v.objectStore.ca.existingSecret -}}
{{- $_ := set $files "S3_CA_FILE" (dict "volume" "s3-ca" "secret" . "key" $v.objectStore.ca.key) -}}
{{- end -}}
{{- with $v.streams.ca.existingSecret -}}
{{- $_ := set $files "STREAM_CA_FILE" (dict "volume" "stream-ca" "secret" . "key" $v.streams.ca.key) -}}
{{- end -}}
{{- with $v.webhooks.ca.existingSecret -}}
{{- $_ := set $files "WEBHOOK_CA_FILE" (dict "volume" "webhook-ca" "secret" . "key" $v.webhooks.ca.key) -}}
{{- end -}}
{{- if $v.kafka.tls.enabled -}}
{{- with $v.kafka.tls.ca.existingSecret -}}
{{- $_ := set $files "KAFKA_CA_FILE" (dict "volume" "kafka-ca" "secret" . "key" $v.kafka.tls.ca.key) -}}
{{- end -}}
{{- with $v.kafka.tls.client.existingSecret -}}
{{- $secret := include "vision.named" (dict "text" . "name" $.name) -}}
{{- $_ := set $files "KAFKA_CERT_FILE" (dict "volume" "kafka-client" "secret" $secret "key" $v.kafka.tls.client.certKey) -}}
{{- $_ := set $files "KAFKA_KEY_FILE" (dict "volume" "kafka-client" "secret" $secret "key" $v.kafka.tls.client.keyKey) -}}
{{- end -}}
{{- end -}}
{{- if eq $v.kafka.sasl.mechanism "oauthbearer" -}}
{{- with $v.kafka.sasl.oauth.ca.existingSecret -}}
{{- $_ := set $files "KAFKA_OAUTH_CA_FILE" (dict "volume" "kafka-oauth-ca" "secret" . "key" $v.kafka.sasl.oauth.ca.key) -}}
{{- end -}}
{{- end -}}
{{- range $name, $file := $files -}}
{{- $_ := set $file "path" (printf "/etc/vision/%s/%s" $file.volume $file.key) -}}
{{- end -}}
{{- $files | toJson -}}
{{- end -}}

{{/* The files among these names of settings. (root, name, names) */}}
{{- define "vision.filesOf" -}}
{{- $mine := dict -}}
{{- range $name, $file := include "vision.files" . | fromJson -}}
{{- if has $name $.names -}}{{- $_ := set $mine $name $file -}}{{- end -}}
{{- end -}}
{{- $mine | toJson -}}
{{- end -}}

{{/* Volumes of these files, one for each Secret. (files) */}}
{{- define "vision.fileVolumes" -}}
{{- $seen := dict -}}
{{- range $name, $file := .files -}}
{{- if not (hasKey $seen $file.volume) -}}
{{- $_ := set $seen $file.volume true }}
- name: {{ $file.volume }}
  secret:
    secretName: {{ $file.secret }}
    defaultMode: 0440
    items:
      {{- range $other := $.files }}
      {{- if eq $other.volume $file.volume }}
      - key: {{ $other.key }}
        path: {{ $other.key }}
      {{- end }}
      {{- end }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "vision.fileMounts" -}}
{{- $seen := dict -}}
{{- range $name, $file := .files -}}
{{- if not (hasKey $seen $file.volume) -}}
{{- $_ := set $seen $file.volume true }}
- name: {{ $file.volume }}
  mountPath: /etc/vision/{{ $file.volume }}
  readOnly: true
{{- end -}}
{{- end -}}
{{- end -}}

{{/* One variable. (name, from) */}}
{{- define "vision.variable" -}}
- name: {{ .name }}
{{- if hasKey .from "secret" }}
  valueFrom:
    secretKeyRef:
      name: {{ .from.secret }}
      key: {{ .from.key }}
{{- else }}
  value: {{ include "vision.text" .from.value | quote }}
{{- end -}}
{{- end -}}

{{/* Whole numbers come through JSON as floating ones: 5368709120 must not become 5.36870912e+09. */}}
{{- define "vision.text" -}}
{{- if kindIs "float64" . -}}
{{- if eq (floor .) . -}}{{- printf "%.0f" . -}}{{- else -}}{{- . | toString -}}{{- end -}}
{{- else if kindIs "slice" . -}}{{- join "," . -}}
{{- else -}}{{- . | toString -}}
{{- end -}}
{{- end -}}

{{/* All variables of a component. (root, name, c, facts) */}}
{{- define "vision.env" -}}
{{- $wiring := include "vision.wiring" . | fromJson -}}
{{- $given := dict -}}
{{- range $name := .facts.wired -}}
{{- if hasKey $wiring $name -}}{{- $_ := set $given $name (index $wiring $name) -}}{{- end -}}
{{- end -}}
{{- if hasKey .facts.settings "WORK_DIR_MAX_BYTES" -}}
{{- /* The file system of the node shows no sizeLimit. A sixteenth is left for other files: a pod that fills its /tmp is evicted. */ -}}
{{- if hasPrefix "/tmp" (include "vision.setting" (dict "root" .root "name" .name "setting" "WORK_DIR")) -}}
{{- $bytes := div (mul (include "vision.mebibytes" .c.tmpSize | int64) 1048576 15) 16 -}}
{{- $_ := set $given "WORK_DIR_MAX_BYTES" (dict "value" ($bytes | toString)) -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := .root.Values.settings -}}
{{- if or (hasKey $.facts.settings $name) (has $name $.facts.retired) -}}{{- $_ := set $given $name (dict "value" $value) -}}{{- end -}}
{{- end -}}
{{- range $name, $value := .c.settings -}}
{{- $_ := set $given $name (dict "value" $value) -}}
{{- end -}}
{{- if and (has "S3_ENDPOINT" .facts.wired) (hasKey $wiring "AWS_ROLE_ARN") -}}
{{- $_ := set $given "AWS_ROLE_ARN" $wiring.AWS_ROLE_ARN -}}
{{- $_ := set $given "AWS_WEB_IDENTITY_TOKEN_FILE" $wiring.AWS_WEB_IDENTITY_TOKEN_FILE -}}
{{- end -}}
{{- with .c.resources.limits -}}
{{- with .memory -}}
{{- $heap := div (mul (include "vision.mebibytes" . | int) $.c.heapPercent) 100 -}}
{{- $_ := set $given "NODE_OPTIONS" (dict "value" (printf "--max-semi-space-size=8 --max-old-space-size=%d" $heap)) -}}
{{- end -}}
{{- end -}}
{{- range $name, $from := $given }}
{{ include "vision.variable" (dict "name" $name "from" $from) }}
{{- end }}
{{- include "vision.telemetryEnv" . }}
{{- range .c.extraEnv }}
{{- if or (hasKey $given .name) (hasPrefix "OTEL_" .name) (has .name (list "POD_NAME" "POD_NAMESPACE")) }}
{{- fail (printf "components.%s.extraEnv: %s is given by the chart already; use settings or the value that stands for it." $.name .name) }}
{{- end }}
- {{ toYaml . | indent 2 | trim }}
{{- end }}
{{- end -}}

{{- define "vision.telemetryEnv" }}
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
- name: POD_NAMESPACE
  valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
- name: OTEL_SERVICE_NAME
  value: {{ .name }}
- name: OTEL_RESOURCE_ATTRIBUTES
  value: k8s.pod.name=$(POD_NAME),k8s.namespace.name=$(POD_NAMESPACE),k8s.deployment.name={{ include "vision.fullname" .root }}-{{ .name }},service.version={{ .c.image.tag | default .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- with .root.Values.tracing }}
{{- if .endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ .endpoint | quote }}
- name: OTEL_EXPORTER_OTLP_PROTOCOL
  value: http/protobuf
- name: OTEL_METRICS_EXPORTER
  value: {{ ternary "otlp" "none" .metrics }}
- name: OTEL_LOGS_EXPORTER
  value: {{ ternary "otlp" "none" .logs }}
- name: OTEL_TRACES_SAMPLER
  value: {{ .sampler }}
{{- with .samplerArg }}
- name: OTEL_TRACES_SAMPLER_ARG
  value: {{ . | quote }}
{{- end }}
{{- with .existingSecret }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom: { secretKeyRef: { name: {{ . }}, key: headers } }
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
