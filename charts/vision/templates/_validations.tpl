{{/* Each of these says in one sentence what is wrong and what to do. */}}

{{- define "vision.validateStores" -}}
{{- $v := .Values -}}
{{- if not (or $v.redis.url $v.redis.existingSecret) -}}
{{- fail "Redis is missing: set redis.existingSecret to a Secret with its address, or redis.url." -}}
{{- end -}}
{{- if not $v.kafka.brokers -}}
{{- fail "Kafka is missing: set kafka.brokers to a list of host:port." -}}
{{- end -}}
{{- if and $v.kafka.sasl.mechanism (not $v.kafka.sasl.existingSecret) -}}
{{- fail "kafka.sasl.mechanism is set without a password: set kafka.sasl.existingSecret." -}}
{{- end -}}
{{- if and (eq $v.kafka.sasl.mechanism "oauthbearer") (not $v.kafka.sasl.oauth.tokenUrl) -}}
{{- fail "kafka.sasl.mechanism is oauthbearer without a token server: set kafka.sasl.oauth.tokenUrl." -}}
{{- end -}}
{{- if and (ne $v.kafka.sasl.mechanism "oauthbearer") $v.kafka.sasl.oauth.tokenUrl -}}
{{- fail "kafka.sasl.oauth.tokenUrl is for kafka.sasl.mechanism oauthbearer: set that, or leave it empty." -}}
{{- end -}}
{{- range $name, $topic := $v.kafka.topics -}}
{{- if and $topic.replicationFactor $topic.minInsyncReplicas (gt (int $topic.minInsyncReplicas) (int $topic.replicationFactor)) -}}
{{- fail (printf "kafka.topics.%s: minInsyncReplicas (%d) is more than replicationFactor (%d), so nothing could be written." $name (int $topic.minInsyncReplicas) (int $topic.replicationFactor)) -}}
{{- end -}}
{{- end -}}
{{- if not $v.objectStore.endpoint -}}
{{- fail "The object store is missing: set objectStore.endpoint." -}}
{{- end -}}
{{- if not (or $v.objectStore.existingSecret $v.objectStore.webIdentity.enabled $v.objectStore.podIdentity.enabled) -}}
{{- fail "The object store has no keys: set objectStore.existingSecret, objectStore.webIdentity.enabled or objectStore.podIdentity.enabled." -}}
{{- end -}}
{{- if and $v.scenes.json (not $v.scenes.existingConfigMap) -}}
{{- $scenes := fromJson $v.scenes.json -}}
{{- if not (hasKey $scenes "scenes") -}}
{{- fail "scenes.json is not the registry of scenes: JSON with the keys detectors and scenes." -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Without a registry a node asks Docker Hub, where these names are not ours. */}}
{{- define "vision.validateImages" -}}
{{- $v := .Values -}}
{{- if not (or $v.image.registry $v.global.imageRegistry) -}}
{{- range $name, $own := $v.components -}}
{{- $c := include "vision.component" (dict "root" $ "name" $name) | fromJson -}}
{{- if and $c.enabled (not $c.image.repository) -}}
{{- fail (printf "The images have no registry: set image.registry to where you pushed %s/%s and the others; for images that were loaded into nodes it is docker.io, or localhost." $v.image.repository $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A pod by which a webhook of the cluster gives identities needs a service account that it knows. */}}
{{- define "vision.validateIdentity" -}}
{{- $s := .Values.objectStore -}}
{{- if and $s.webIdentity.enabled $s.podIdentity.enabled -}}
{{- fail "objectStore.webIdentity and objectStore.podIdentity are both enabled: choose one." -}}
{{- end -}}
{{- if and $s.podIdentity.enabled (ne $s.manageBucket "none") (not .Values.jobs.serviceAccountName) -}}
{{- fail "objectStore.podIdentity: the job that looks for the bucket runs before the service accounts of this chart exist. Name one with an association in jobs.serviceAccountName, or set objectStore.manageBucket to none." -}}
{{- end -}}
{{- if and $s.webIdentity.enabled (not $s.webIdentity.roleArn) (ne $s.manageBucket "none") (not .Values.jobs.serviceAccountName) -}}
{{- fail "objectStore.webIdentity without a roleArn: the job that looks for the bucket runs before the service accounts of this chart exist. Name one that has the role in jobs.serviceAccountName, or set objectStore.manageBucket to none." -}}
{{- end -}}
{{- end -}}

{{- define "vision.validateSecrets" -}}
{{- $root := . -}}
{{- $from := dict -}}
{{- range $entry := splitList " " (include "vision.neededSecrets" .) -}}
{{- $secret := include "vision.secretOf" (dict "root" $root "entry" $entry) -}}
{{- if not $secret -}}
{{- fail (printf "secrets.%s has no Secret: set secrets.existingSecret or secrets.%s.existingSecret, or secrets.generate where Helm itself installs." $entry $entry) -}}
{{- end -}}
{{- if or (hasSuffix "ServiceKey" $entry) (eq $entry "servicePublicKeys") -}}
{{- $_ := set $from (ternary "generated" "yours" (eq $secret (include "vision.generatedName" $root))) $entry -}}
{{- end -}}
{{- end -}}
{{- if gt (len $from) 1 -}}
{{- fail (printf "The keys of the services belong together: secrets.%s has a Secret of yours and secrets.%s would be generated." $from.yours $from.generated) -}}
{{- end -}}
{{- end -}}

{{/* What is odd in one component. (root, name, c, facts) */}}
{{- define "vision.validateComponent" -}}
{{- $v := .root.Values -}}
{{- $name := .name -}}
{{- if not (or .c.database.existingSecret $v.database.existingSecret) -}}
{{- fail (printf "%s has no database: set database.existingSecret or components.%s.database.existingSecret." $name $name) -}}
{{- end -}}
{{- $ports := values .c.ports -}}
{{- if ne (len (uniq $ports)) (len $ports) -}}
{{- fail (printf "components.%s.ports: two of them are the same." $name) -}}
{{- end -}}
{{- $hpa := .c.autoscaling.hpa -}}
{{- $keda := .c.autoscaling.keda -}}
{{- if and $hpa.enabled $keda.enabled -}}
{{- fail (printf "components.%s.autoscaling: hpa and keda are both enabled, and would scale against each other; choose one." $name) -}}
{{- end -}}
{{- if and $hpa.enabled (not $hpa.podMetrics) (le (int $hpa.cpuPercent) 0) -}}
{{- fail (printf "components.%s.autoscaling.hpa has nothing to scale by: set cpuPercent or podMetrics." $name) -}}
{{- end -}}
{{- if and $keda.enabled (not $keda.triggers) (or (not .facts.consumes) (le (int $keda.lagThreshold) 0)) -}}
{{- fail (printf "components.%s.autoscaling.keda has nothing to scale by: it has no consumer group with a lagThreshold, so set triggers." $name) -}}
{{- end -}}
{{- if and $keda.enabled $v.kafka.sasl.mechanism $v.kafka.sasl.username .facts.consumes (gt (int $keda.lagThreshold) 0) -}}
{{- fail (printf "components.%s.autoscaling.keda reads the user name of Kafka from a Secret: put it into kafka.sasl.existingSecret and leave kafka.sasl.username empty." $name) -}}
{{- end -}}
{{- if and $keda.enabled (eq $v.kafka.sasl.mechanism "oauthbearer") .facts.consumes (gt (int $keda.lagThreshold) 0) -}}
{{- fail (printf "components.%s.autoscaling.keda cannot read the lag with tokens of this chart: set its lagThreshold to 0 and give triggers of your own, or use hpa." $name) -}}
{{- end -}}
{{- $fewest := include "vision.fewestReplicas" . | int -}}
{{- $most := include "vision.mostReplicas" . | int -}}
{{- if gt $fewest $most -}}
{{- fail (printf "components.%s.autoscaling: minReplicas (%d) is more than maxReplicas (%d)." $name $fewest $most) -}}
{{- end -}}
{{- range .facts.consumes -}}
{{- $topics := $v.kafka.topics -}}
{{- $own := index $topics .name | default dict -}}
{{- $partitions := $own.partitions | default (index $topics "default" | default dict).partitions | default .partitions | int -}}
{{- if gt $fewest $partitions -}}
{{- fail (printf "components.%s has %d replicas at least, but its topic %s has %d partitions: the others would never get a record; raise kafka.topics.%s.partitions or have fewer." $name $fewest .topic $partitions .name) -}}
{{- end -}}
{{- end -}}
{{- $budget := .c.podDisruptionBudget -}}
{{- if $budget.enabled -}}
{{- $noMost := kindIs "invalid" $budget.maxUnavailable -}}
{{- $noLeast := kindIs "invalid" $budget.minAvailable -}}
{{- if and (not $noMost) (not $noLeast) -}}
{{- fail (printf "components.%s.podDisruptionBudget: set maxUnavailable or minAvailable, and the other one to null." $name) -}}
{{- end -}}
{{- if and $noMost $noLeast -}}
{{- fail (printf "components.%s.podDisruptionBudget: set maxUnavailable or minAvailable." $name) -}}
{{- end -}}
{{- if and (not $noLeast) (not (hasSuffix "%" ($budget.minAvailable | toString))) (ge (int $budget.minAvailable) $fewest) -}}
{{- fail (printf "components.%s.podDisruptionBudget.minAvailable (%d) leaves no pod that may be evicted of %d: nodes could not be drained." $name (int $budget.minAvailable) $fewest) -}}
{{- end -}}
{{- end -}}
{{- if and (eq (.c.strategy.maxSurge | toString | trimSuffix "%") "0") (eq (.c.strategy.maxUnavailable | toString | trimSuffix "%") "0") -}}
{{- fail (printf "components.%s.strategy: maxSurge and maxUnavailable are both 0, so nothing could be replaced." $name) -}}
{{- end -}}
{{- end -}}

{{/* Files that a component may hold in /tmp at once, against its size: a pod that has more is evicted. */}}
{{- define "vision.validateRoom" -}}
{{- $root := . -}}
{{- $video := div (include "vision.setting" (dict "root" . "name" "inference" "setting" "FILE_MAX_BYTES") | int64) 1048576 -}}
{{- range list (list "images" "MAX_CALLS" 81 "SPOOL_DIR") (list "inference" "JOBS_PER_WORKER" $video "WORK_DIR") -}}
{{- $name := index . 0 -}}
{{- $c := include "vision.component" (dict "root" $root "name" $name) | fromJson -}}
{{- $files := include "vision.setting" (dict "root" $root "name" $name "setting" (index . 1)) | int -}}
{{- $size := include "vision.mebibytes" $c.tmpSize | int -}}
{{- if and $c.enabled (hasPrefix "/tmp" (include "vision.setting" (dict "root" $root "name" $name "setting" (index . 3)))) -}}
{{- if gt (mul $files (index . 2) | int) $size -}}
{{- fail (printf "components.%s.tmpSize (%s) has no room for %s (%d) × %d MiB, and a pod that fills it is evicted: raise it, or lower %s." $name $c.tmpSize (index . 1) $files (index . 2 | int) (index . 1)) -}}
{{- end -}}
{{- with ($c.resources.limits | default dict) -}}
{{- with index . "ephemeral-storage" -}}
{{- if lt (include "vision.mebibytes" . | int) $size -}}
{{- fail (printf "components.%s.resources.limits.ephemeral-storage (%s) is less than its tmpSize (%s): a pod that fills it is evicted." $name . $c.tmpSize) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Each hop gives up before the one in front of it: docs/operations.md, "Limits and timeouts". */}}
{{- define "vision.validateTimeouts" -}}
{{- $detect := include "vision.setting" (dict "root" . "name" "images" "setting" "DETECT_TIMEOUT_MS") | int -}}
{{- $answer := include "vision.setting" (dict "root" . "name" "inference" "setting" "DETECT_ANSWER_MS") | int -}}
{{- $call := include "vision.setting" (dict "root" . "name" "images" "setting" "CALL_TIMEOUT_MS") | int -}}
{{- $idle := include "vision.setting" (dict "root" . "name" "gateway" "setting" "UPSTREAM_IDLE_MS") | int -}}
{{- $body := include "vision.setting" (dict "root" . "name" "gateway" "setting" "BODY_TIMEOUT_MS") | int -}}
{{- if and (not .Values.inferenceBackend.url) (ge $answer $detect) -}}
{{- fail (printf "DETECT_ANSWER_MS of inference (%d) has to be below DETECT_TIMEOUT_MS of images (%d)." $answer $detect) -}}
{{- end -}}
{{- if ge $detect $call -}}
{{- fail (printf "DETECT_TIMEOUT_MS of images (%d) has to be below its CALL_TIMEOUT_MS (%d)." $detect $call) -}}
{{- end -}}
{{- if ge (add $call 20000) $idle -}}
{{- fail (printf "CALL_TIMEOUT_MS of images (%d) and 20 s to store the result have to be below UPSTREAM_IDLE_MS of the gateway (%d)." $call $idle) -}}
{{- end -}}
{{- if and .Values.ingress.enabled (lt (mul .Values.ingress.idleTimeoutSeconds 1000) $idle) -}}
{{- fail (printf "ingress.idleTimeoutSeconds (%d) has to be UPSTREAM_IDLE_MS of the gateway (%d ms) at least, or callers get an answer of the ingress." (int .Values.ingress.idleTimeoutSeconds) $idle) -}}
{{- end -}}
{{- if .Values.httpRoute.enabled -}}
{{- if lt (mul .Values.httpRoute.timeoutSeconds 1000) $idle -}}
{{- fail (printf "httpRoute.timeoutSeconds (%d) has to be UPSTREAM_IDLE_MS of the gateway (%d ms) at least." (int .Values.httpRoute.timeoutSeconds) $idle) -}}
{{- end -}}
{{- if lt (mul .Values.httpRoute.uploadTimeoutSeconds 1000) $body -}}
{{- fail (printf "httpRoute.uploadTimeoutSeconds (%d) has to be BODY_TIMEOUT_MS of the gateway (%d ms) at least." (int .Values.httpRoute.uploadTimeoutSeconds) $body) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* (most replicas + surge) × connections of each, against what the server allows. */}}
{{- define "vision.validateConnections" -}}
{{- $root := . -}}
{{- $shared := 2 -}}
{{- $words := list "2 for a migration" -}}
{{- range $name, $own := .Values.components -}}
{{- $c := include "vision.component" (dict "root" $root "name" $name) | fromJson -}}
{{- if $c.enabled -}}
{{- $facts := include "vision.facts" (dict "root" $root "name" $name) | fromJson -}}
{{- $most := include "vision.mostReplicas" (dict "c" $c) | int -}}
{{- $surge := include "vision.surge" (dict "value" $c.strategy.maxSurge "replicas" $most) | int -}}
{{- $each := add (int $c.database.pool) (int $facts.sessions) -}}
{{- $sum := mul (add $most $surge) $each -}}
{{- if gt (int $c.database.maxConnections) 0 -}}
{{- if gt (add $sum 2) (int $c.database.maxConnections) -}}
{{- fail (printf "components.%s may open %d connections ((%d replicas + %d) × %d, and 2 for a migration), but components.%s.database.maxConnections is %d." $name (add $sum 2) $most $surge $each $name (int $c.database.maxConnections)) -}}
{{- end -}}
{{- else -}}
{{- $shared = add $shared $sum -}}
{{- $words = append $words (printf "%s (%d + %d) × %d" $name $most $surge $each) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $limit := sub (int .Values.database.maxConnections) (int .Values.database.reservedConnections) -}}
{{- if and (gt (int .Values.database.maxConnections) 0) (gt $shared $limit) -}}
{{- fail (printf "The services may open %d connections to PostgreSQL, but database.maxConnections less reservedConnections leaves %d: raise it, or lower a pool or a number of replicas (%s)." $shared $limit (join ", " $words)) -}}
{{- end -}}
{{- end -}}

{{- define "vision.validateRoutes" -}}
{{- $v := .Values -}}
{{- if and $v.ingress.enabled $v.httpRoute.enabled -}}
{{- fail "ingress and httpRoute are both enabled: choose one way to the public API." -}}
{{- end -}}
{{- $public := (include "vision.component" (dict "root" . "name" "gateway") | fromJson).service -}}
{{- if and (ne $public.type "LoadBalancer") (or $public.loadBalancerClass $public.loadBalancerSourceRanges) -}}
{{- fail "components.gateway.service.loadBalancerClass and loadBalancerSourceRanges are for the type LoadBalancer." -}}
{{- end -}}
{{- if and (eq $public.type "ClusterIP") $public.externalTrafficPolicy -}}
{{- fail "components.gateway.service.externalTrafficPolicy is for the types LoadBalancer and NodePort." -}}
{{- end -}}
{{- if and $v.ingress.enabled (not $v.ingress.host) -}}
{{- fail "ingress.enabled needs ingress.host." -}}
{{- end -}}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.parentRefs) -}}
{{- fail "httpRoute.enabled needs httpRoute.parentRefs: the Gateway that takes it." -}}
{{- end -}}
{{- if and $v.httpRoute.enabled (not $v.httpRoute.hostnames) -}}
{{- fail "httpRoute.enabled needs httpRoute.hostnames." -}}
{{- end -}}
{{- end -}}

{{/* Kinds that not every cluster has. */}}
{{- define "vision.validateKinds" -}}
{{- $root := . -}}
{{- $uses := dict -}}
{{- if .Values.httpRoute.enabled -}}{{- $_ := set $uses "gateway.networking.k8s.io/v1/HTTPRoute" "httpRoute.enabled" -}}{{- end -}}
{{- if .Values.metrics.podMonitor.enabled -}}{{- $_ := set $uses "monitoring.coreos.com/v1/PodMonitor" "metrics.podMonitor.enabled" -}}{{- end -}}
{{- if .Values.metrics.prometheusRule.enabled -}}{{- $_ := set $uses "monitoring.coreos.com/v1/PrometheusRule" "metrics.prometheusRule.enabled" -}}{{- end -}}
{{- range $name, $own := .Values.components -}}
{{- $c := include "vision.component" (dict "root" $root "name" $name) | fromJson -}}
{{- if and $c.enabled $c.autoscaling.keda.enabled -}}{{- $_ := set $uses "keda.sh/v1alpha1/ScaledObject" (printf "components.%s.autoscaling.keda.enabled" $name) -}}{{- end -}}
{{- end -}}
{{- range $kind, $value := $uses -}}
{{- if not ($root.Capabilities.APIVersions.Has $kind) -}}
{{- fail (printf "%s needs %s, which this cluster does not have (without a cluster: helm template --api-versions %s)." $value $kind $kind) -}}
{{- end -}}
{{- end -}}
{{- end -}}
