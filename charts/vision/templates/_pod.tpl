{{/* What all pods have in common: the restricted profile. */}}

{{/* (root, own?: what a component says over everything else) */}}
{{- define "vision.podSecurityContextOf" -}}
{{- $common := include "vision.podSecurityContext" .root -}}
{{- if .own -}}{{- mergeOverwrite ($common | fromYaml) (deepCopy .own) | toYaml -}}{{- else -}}{{- $common -}}{{- end -}}
{{- end -}}

{{/* Of the container of a service. (own?: what its component says over the restricted profile) */}}
{{- define "vision.containerSecurityContextOf" -}}
{{- $common := include "vision.containerSecurityContext" . -}}
{{- if .own -}}{{- mergeOverwrite ($common | fromYaml) (deepCopy .own) | toYaml -}}{{- else -}}{{- $common -}}{{- end -}}
{{- end -}}

{{/* How names are resolved; takes what has hostAliases, dnsPolicy and dnsConfig. */}}
{{- define "vision.names" -}}
{{- with .hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .dnsPolicy }}
dnsPolicy: {{ . }}
{{- end }}
{{- with .dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "vision.podSecurityContext" -}}
runAsNonRoot: true
{{- with .Values.podSecurity }}
{{- if not (kindIs "invalid" .runAsUser) }}
runAsUser: {{ .runAsUser | int }}
{{- end }}
{{- if not (kindIs "invalid" .runAsGroup) }}
runAsGroup: {{ .runAsGroup | int }}
{{- end }}
{{- if not (kindIs "invalid" .fsGroup) }}
fsGroup: {{ .fsGroup | int }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
{{- end }}
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "vision.containerSecurityContext" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* (root) */}}
{{- define "vision.pullSecrets" -}}
{{- with .Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Where a pod may run; takes what has nodeSelector, tolerations and affinity. */}}
{{- define "vision.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Where pods run that are no component: as jobs say, else as all components do. (root) */}}
{{- define "vision.placementOfJobs" -}}
{{- $jobs := .Values.jobs -}}
{{- $all := .Values.componentDefaults -}}
{{- include "vision.placement" (dict "nodeSelector" ($jobs.nodeSelector | default $all.nodeSelector) "tolerations" ($jobs.tolerations | default $all.tolerations) "affinity" ($jobs.affinity | default $all.affinity)) -}}
{{- end -}}

{{/* Seconds that a stop may take: the pause before, what the settings give, and what the code adds. (root, facts) */}}
{{- define "vision.grace" -}}
{{- $stop := .root.Values.stop -}}
{{- add $stop.preStopSeconds $stop.drainDelaySeconds $stop.requestGraceSeconds (.facts.stopSeconds | int) 2 -}}
{{- end -}}

{{/* (root, c) */}}
{{- define "vision.lifecycle" -}}
{{- $seconds := .root.Values.stop.preStopSeconds -}}
{{- if or (gt (int $seconds) 0) .c.postStart }}
lifecycle:
  {{- with .c.postStart }}
  postStart:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if gt (int $seconds) 0 }}
  preStop:
    {{- if semverCompare ">=1.30.0-0" .root.Capabilities.KubeVersion.Version }}
    sleep: { seconds: {{ $seconds }} }
    {{- else }}
    exec: { command: [sleep, {{ $seconds | quote }}] }
    {{- end }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* (root, name, c) */}}
{{- define "vision.spread" -}}
{{- if .c.topologySpreadConstraints -}}
{{- toYaml .c.topologySpreadConstraints }}
{{- else -}}
{{- $selector := include "vision.selector" . -}}
{{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
- maxSkew: 1
  topologyKey: {{ $key }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      {{- $selector | nindent 6 }}
{{- end }}
{{- end }}
{{- end -}}
