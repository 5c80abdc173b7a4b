{{/* The Deployment of a component. (root, name, c, facts) */}}
{{- define "vision.deployment" -}}
{{- $v := .root.Values -}}
{{- $files := include "vision.filesOf" (dict "root" .root "name" .name "names" .facts.wired) | fromJson -}}
{{- $scenes := and (or $v.scenes.json $v.scenes.existingConfigMap) (has "SCENES_FILE" .facts.wired) -}}
{{- $token := and $v.objectStore.webIdentity.enabled $v.objectStore.webIdentity.roleArn (has "S3_ENDPOINT" .facts.wired) -}}
{{- $scaled := or .c.autoscaling.hpa.enabled .c.autoscaling.keda.enabled -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "vision.metadata" . | nindent 2 }}
spec:
  {{- if not $scaled }}
  replicas: {{ .c.replicas }}
  {{- end }}
  revisionHistoryLimit: {{ .c.revisionHistoryLimit }}
  progressDeadlineSeconds: 600
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: {{ .c.strategy.maxSurge }}
      maxUnavailable: {{ .c.strategy.maxUnavailable }}
  selector:
    matchLabels:
      {{- include "vision.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "vision.podLabels" (dict "root" .root "name" .name "labels" .c.podLabels) | nindent 8 }}
      annotations:
        kubectl.kubernetes.io/default-container: {{ .name }}
        {{- if include "vision.generates" .root }}
        checksum/secrets: {{ include "vision.generatedData" .root | sha256sum }}
        {{- end }}
        {{- if and $scenes $v.scenes.json }}
        checksum/scenes: {{ $v.scenes.json | sha256sum }}
        {{- end }}
        {{- if $v.metrics.annotations }}
        prometheus.io/scrape: 'true'
        prometheus.io/port: {{ .c.ports.health | quote }}
        prometheus.io/path: /metrics
        {{- end }}
        {{- with .c.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "vision.serviceAccountName" . }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- if .facts.decodes }}
      # The first process of the pod, not the service, inherits what ended decoders leave behind.
      shareProcessNamespace: true
      {{- end }}
      {{- include "vision.pullSecrets" .root | indent 6 }}
      securityContext:
        {{- include "vision.podSecurityContextOf" (dict "root" .root "own" .c.podSecurityContext) | nindent 8 }}
        {{- with .c.sysctls }}
        sysctls:
          {{- toYaml . | nindent 10 }}
        {{- end }}
      terminationGracePeriodSeconds: {{ include "vision.grace" . }}
      {{- with .c.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- with .c.runtimeClassName }}
      runtimeClassName: {{ . }}
      {{- end }}
      {{- with .c.schedulerName }}
      schedulerName: {{ . }}
      {{- end }}
      {{- with include "vision.names" .c | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      {{- with include "vision.placement" .c | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      topologySpreadConstraints:
        {{- include "vision.spread" . | nindent 8 }}
      {{- with .c.initContainers }}
      initContainers:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: {{ .name }}
          image: {{ include "vision.image" . }}
          imagePullPolicy: {{ $v.image.pullPolicy }}
          securityContext:
            {{- include "vision.containerSecurityContextOf" (dict "own" .c.securityContext) | nindent 12 }}
          env:
            {{- include "vision.env" . | trim | nindent 12 }}
          {{- with .c.extraEnvFrom }}
          envFrom:
            {{- toYaml . | nindent 12 }}
          {{- end }}
          ports:
            - { name: http, containerPort: {{ .c.ports.http }} }
            {{- with .c.ports.admin }}
            - { name: admin, containerPort: {{ . }} }
            {{- end }}
            - { name: health, containerPort: {{ .c.ports.health }} }
          startupProbe:
            httpGet: { path: /health/startup, port: health }
            {{- toYaml .c.startupProbe | nindent 12 }}
          readinessProbe:
            httpGet: { path: /health/ready, port: health }
            {{- toYaml .c.readinessProbe | nindent 12 }}
          livenessProbe:
            httpGet: { path: /health/live, port: health }
            {{- toYaml .c.livenessProbe | nindent 12 }}
          {{- include "vision.lifecycle" . | indent 10 }}
          resources:
            {{- toYaml .c.resources | nindent 12 }}
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            {{- if $scenes }}
            - { name: scenes, mountPath: /etc/vision/scenes, readOnly: true }
            {{- end }}
            {{- if $token }}
            - { name: s3-token, mountPath: /var/run/secrets/vision/s3-token, readOnly: true }
            {{- end }}
            {{- include "vision.fileMounts" (dict "files" $files) | indent 12 }}
            {{- with .c.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
        {{- with .c.extraContainers }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      volumes:
        - name: tmp
          emptyDir: { sizeLimit: {{ .c.tmpSize }} }
        {{- if $scenes }}
        - name: scenes
          configMap: { name: {{ $v.scenes.existingConfigMap | default (printf "%s-scenes" (include "vision.fullname" .root)) }} }
        {{- end }}
        {{- if $token }}
        - name: s3-token
          projected:
            sources:
              - serviceAccountToken: { path: token, audience: {{ $v.objectStore.webIdentity.audience }}, expirationSeconds: 3600 }
        {{- end }}
        {{- include "vision.fileVolumes" (dict "files" $files) | indent 8 }}
        {{- with .c.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
{{- end -}}
