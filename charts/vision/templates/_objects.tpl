{{/* The smaller objects of a component. Each takes (root, name, c, facts). */}}

{{- define "vision.serviceAccount" -}}
{{- if .c.serviceAccount.create }}
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "vision.metadata" (dict "root" .root "name" .name "labels" .c.serviceAccount.labels "annotations" .c.serviceAccount.annotations) | nindent 2 }}
automountServiceAccountToken: false
{{- end }}
{{- end -}}

{{/* IPv4, IPv6 or both. (c) */}}
{{- define "vision.families" -}}
{{- with .c.ipFamilyPolicy }}
ipFamilyPolicy: {{ . }}
{{- end }}
{{- with .c.ipFamilies }}
ipFamilies: {{ toJson . }}
{{- end }}
{{- end -}}

{{/* Health and metrics are on no Service; the admin API has one of its own, so that nothing publishes both. */}}
{{- define "vision.service" -}}
{{- $service := .c.service | default dict -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "vision.metadata" (dict "root" .root "name" .name "annotations" $service.annotations) | nindent 2 }}
spec:
  type: {{ $service.type | default "ClusterIP" }}
  {{- with $service.loadBalancerClass }}
  loadBalancerClass: {{ . }}
  {{- end }}
  {{- with $service.loadBalancerSourceRanges }}
  loadBalancerSourceRanges:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $service.externalTrafficPolicy }}
  externalTrafficPolicy: {{ . }}
  {{- end }}
  {{- with include "vision.families" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  selector:
    {{- include "vision.selector" . | nindent 4 }}
  ports:
    - { name: http, port: {{ .c.ports.http }}, targetPort: http, appProtocol: http }
{{- end -}}

{{- define "vision.adminService" -}}
{{- if .c.ports.admin }}
apiVersion: v1
kind: Service
metadata:
  {{- include "vision.metadata" (dict "root" .root "name" .name "suffix" (printf "%s-admin" .name)) | nindent 2 }}
spec:
  type: ClusterIP
  {{- with include "vision.families" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  selector:
    {{- include "vision.selector" . | nindent 4 }}
  ports:
    - { name: admin, port: {{ .c.ports.admin }}, targetPort: admin, appProtocol: http }
{{- end }}
{{- end -}}

{{/* A name that stands for every pod, ready or not, by which operators ask each of them (visionctl doctor). */}}
{{- define "vision.replicasService" -}}
{{- if ne .name "gateway" }}
apiVersion: v1
kind: Service
metadata:
  {{- include "vision.metadata" (dict "root" .root "name" .name "suffix" (printf "%s-replicas" .name)) | nindent 2 }}
spec:
  type: ClusterIP
  clusterIP: None
  publishNotReadyAddresses: true
  {{- with include "vision.families" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  selector:
    {{- include "vision.selector" . | nindent 4 }}
  ports:
    - { name: http, port: {{ .c.ports.http }}, targetPort: http, appProtocol: http }
{{- end }}
{{- end -}}

{{- define "vision.podDisruptionBudget" -}}
{{- $budget := .c.podDisruptionBudget -}}
{{- if $budget.enabled }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "vision.metadata" . | nindent 2 }}
spec:
  {{- if not (kindIs "invalid" $budget.minAvailable) }}
  minAvailable: {{ $budget.minAvailable }}
  {{- else }}
  maxUnavailable: {{ $budget.maxUnavailable }}
  {{- end }}
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "vision.selector" . | nindent 6 }}
{{- end }}
{{- end -}}

{{- define "vision.horizontalPodAutoscaler" -}}
{{- $hpa := .c.autoscaling.hpa -}}
{{- if $hpa.enabled }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  {{- include "vision.metadata" . | nindent 2 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ include "vision.fullname" .root }}-{{ .name }} }
  minReplicas: {{ $hpa.minReplicas }}
  maxReplicas: {{ $hpa.maxReplicas }}
  metrics:
    {{- if gt (int $hpa.cpuPercent) 0 }}
    - type: Resource
      resource: { name: cpu, target: { type: Utilization, averageUtilization: {{ $hpa.cpuPercent }} } }
    {{- end }}
    {{- range $hpa.podMetrics }}
    - type: Pods
      pods: { metric: { name: {{ .name }} }, target: { type: AverageValue, averageValue: {{ .averageValue | quote }} } }
    {{- end }}
  behavior:
    scaleUp:
      stabilizationWindowSeconds: 0
      policies: [{ type: Percent, value: 100, periodSeconds: 60 }, { type: Pods, value: 2, periodSeconds: 60 }]
      selectPolicy: Max
    scaleDown:
      stabilizationWindowSeconds: {{ $hpa.scaleDownSeconds }}
      policies: [{ type: Pods, value: 1, periodSeconds: 60 }]
{{- end }}
{{- end -}}

{{/* KEDA: by the lag of each consumer group of the component, and by what is given. */}}
{{- define "vision.scaledObject" -}}
{{- $keda := .c.autoscaling.keda -}}
{{- $k := .root.Values.kafka -}}
{{- $full := include "vision.fullname" .root -}}
{{- if $keda.enabled }}
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  {{- include "vision.metadata" . | nindent 2 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ $full }}-{{ .name }} }
  minReplicaCount: {{ $keda.minReplicas }}
  maxReplicaCount: {{ $keda.maxReplicas }}
  cooldownPeriod: {{ $keda.cooldownSeconds }}
  advanced:
    horizontalPodAutoscalerConfig:
      behavior:
        scaleDown:
          stabilizationWindowSeconds: {{ $keda.cooldownSeconds }}
          policies: [{ type: Pods, value: 1, periodSeconds: 60 }]
  triggers:
    {{- if gt (int $keda.lagThreshold) 0 }}
    {{- range .facts.consumes }}
    - type: kafka
      metadata:
        bootstrapServers: {{ join "," $k.brokers }}
        consumerGroup: {{ $k.topicPrefix }}{{ .group }}
        topic: {{ $k.topicPrefix }}{{ .topic }}
        lagThreshold: {{ $keda.lagThreshold | quote }}
        activationLagThreshold: '1'
        offsetResetPolicy: earliest
        limitToPartitionsWithLag: 'true'
        excludePersistentLag: 'true'
        ensureEvenDistributionOfPartitions: 'true'
        {{- if $k.tls.enabled }}
        tls: enable
        {{- end }}
        {{- with $k.sasl.mechanism }}
        sasl: {{ dict "plain" "plaintext" "scram-sha-256" "scram_sha256" "scram-sha-512" "scram_sha512" | dig . "none" }}
        {{- end }}
      {{- if include "vision.kafkaSecrets" $.root }}
      authenticationRef: { name: {{ $full }}-{{ $.name }} }
      {{- end }}
    {{- end }}
    {{- end }}
    {{- with $keda.triggers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
{{- end -}}

{{/* Whether anything of a Secret is needed to reach the brokers. */}}
{{- define "vision.kafkaSecrets" -}}
{{- $k := .Values.kafka -}}
{{- if or $k.sasl.mechanism (and $k.tls.enabled (or $k.tls.ca.existingSecret $k.tls.client.existingSecret)) -}}x{{- end -}}
{{- end -}}

{{- define "vision.triggerAuthentication" -}}
{{- $k := .root.Values.kafka -}}
{{- if and .c.autoscaling.keda.enabled (include "vision.kafkaSecrets" .root) }}
apiVersion: keda.sh/v1alpha1
kind: TriggerAuthentication
metadata:
  {{- include "vision.metadata" . | nindent 2 }}
spec:
  secretTargetRef:
    {{- if $k.sasl.mechanism }}
    {{- $secret := include "vision.named" (dict "text" $k.sasl.existingSecret "name" .name) }}
    {{- if not $k.sasl.username }}
    - { parameter: username, name: {{ $secret }}, key: {{ $k.sasl.usernameKey }} }
    {{- end }}
    - { parameter: password, name: {{ $secret }}, key: {{ $k.sasl.passwordKey }} }
    {{- end }}
    {{- if $k.tls.enabled }}
    {{- with $k.tls.ca.existingSecret }}
    - { parameter: ca, name: {{ . }}, key: {{ $k.tls.ca.key }} }
    {{- end }}
    {{- with $k.tls.client.existingSecret }}
    - { parameter: cert, name: {{ include "vision.named" (dict "text" . "name" $.name) }}, key: {{ $k.tls.client.certKey }} }
    - { parameter: key, name: {{ include "vision.named" (dict "text" . "name" $.name) }}, key: {{ $k.tls.client.keyKey }} }
    {{- end }}
    {{- end }}
{{- end }}
{{- end -}}

{{- define "vision.podMonitor" -}}
{{- $monitor := .root.Values.metrics.podMonitor -}}
{{- if $monitor.enabled }}
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata:
  {{- include "vision.metadata" (dict "root" .root "name" .name "labels" $monitor.labels) | nindent 2 }}
spec:
  selector:
    matchLabels:
      {{- include "vision.selector" . | nindent 6 }}
  podMetricsEndpoints:
    - port: health
      path: /metrics
      interval: {{ $monitor.interval }}
      relabelings:
        # Rules and dashboards tell services apart by it.
        - sourceLabels: [__meta_kubernetes_pod_label_app_kubernetes_io_component]
          targetLabel: service
{{- end }}
{{- end -}}
