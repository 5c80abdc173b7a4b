{{/*
Jobs that run before anything else of an installation or upgrade. Nothing of this chart exists then, so they use only
Secrets that were there before and what stands in them.
*/}}

{{- define "vision.hookAnnotations" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- if .root.Values.jobs.argocd }}
argocd.argoproj.io/hook: Sync
argocd.argoproj.io/sync-wave: {{ .weight | quote }}
argocd.argoproj.io/hook-delete-policy: BeforeHookCreation,HookSucceeded
{{- end }}
{{- end -}}

{{/* (root, job: name of the job, weight, containers: text, files) */}}
{{- define "vision.job" -}}
{{- $jobs := .root.Values.jobs -}}
apiVersion: batch/v1
kind: Job
metadata:
  {{- include "vision.metadata" (dict "root" .root "name" "jobs" "suffix" .job "annotations" (include "vision.hookAnnotations" . | fromYaml)) | nindent 2 }}
spec:
  backoffLimit: {{ $jobs.backoffLimit }}
  activeDeadlineSeconds: {{ $jobs.activeDeadlineSeconds }}
  template:
    metadata:
      labels:
        {{- include "vision.podLabels" (dict "root" .root "name" "jobs" "labels" $jobs.podLabels) | nindent 8 }}
      {{- with $jobs.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- with $jobs.serviceAccountName }}
      serviceAccountName: {{ . }}
      {{- end }}
      {{- include "vision.pullSecrets" .root | indent 6 }}
      {{- with include "vision.names" $jobs | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      {{- with include "vision.placementOfJobs" .root | trim }}
      {{- . | nindent 6 }}
      {{- end }}
      securityContext:
        {{- include "vision.podSecurityContext" .root | nindent 8 }}
      {{- with $jobs.initContainers }}
      initContainers:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        {{- .containers | trim | nindent 8 }}
      volumes:
        - name: tmp
          emptyDir: { sizeLimit: 64Mi }
        {{- with .volumes | default "" | trim }}
        {{- . | nindent 8 }}
        {{- end }}
        {{- include "vision.fileVolumes" (dict "files" .files) | indent 8 }}
{{- end -}}

{{/* A container of a job. (root, name, imageOf?, container, c, command, names: settings that it reads, files) */}}
{{- define "vision.jobContainer" -}}
{{- $wiring := include "vision.wiring" . | fromJson -}}
- name: {{ .container }}
  image: {{ include "vision.image" (dict "root" .root "name" (.imageOf | default .name) "c" .c) }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  securityContext:
    {{- include "vision.containerSecurityContext" . | nindent 4 }}
  command: {{ .command | toJson }}
  env:
    {{- range $name := .names }}
    {{- if hasKey $wiring $name }}
    {{- include "vision.variable" (dict "name" $name "from" (index $wiring $name)) | nindent 4 }}
    {{- end }}
    {{- end }}
    {{- range .root.Values.jobs.extraEnv }}
    {{- if hasKey $wiring .name }}
    {{- fail (printf "jobs.extraEnv: %s is given by the chart already; use the value that stands for it." .name) }}
    {{- end }}
    - {{- toYaml . | nindent 6 }}
    {{- end }}
  {{- with .root.Values.jobs.extraEnvFrom }}
  envFrom:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  resources:
    {{- toYaml .root.Values.jobs.resources | nindent 4 }}
  volumeMounts:
    - { name: tmp, mountPath: /tmp }
    {{- include "vision.fileMounts" (dict "files" .files) | indent 4 }}
    {{- with .mounts | default "" | trim }}
    {{- . | nindent 4 }}
    {{- end }}
{{- end -}}
