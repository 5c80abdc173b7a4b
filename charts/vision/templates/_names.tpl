{{/* Names, labels and images. */}}

{{- define "vision.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What never changes of a component's pods: by it Deployments, Services and policies find them. (root, name) */}}
{{- define "vision.selector" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{/* Labels of an object. (root, name) */}}
{{- define "vision.labels" -}}
{{ include "vision.selector" . }}
app.kubernetes.io/part-of: vision
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with merge (dict) (.labels | default dict) .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Labels of pods: without the version of the chart, so that a change of the chart alone restarts nothing. (root, name, labels?) */}}
{{- define "vision.podLabels" -}}
{{ include "vision.selector" . }}
app.kubernetes.io/part-of: vision
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
{{- with merge (dict) (.labels | default dict) .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Metadata of an object; its annotations are the common ones and those given. (root, name, suffix?, labels?,
annotations?) */}}
{{- define "vision.metadata" -}}
name: {{ include "vision.fullname" .root }}-{{ .suffix | default .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "vision.labels" . | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* What a component consists of: the defaults and what it says itself, as JSON. (root, name) */}}
{{- define "vision.component" -}}
{{- $own := index .root.Values.components .name | default dict -}}
{{- mergeOverwrite (deepCopy .root.Values.componentDefaults) (deepCopy $own) | toJson -}}
{{- end -}}

{{/* The context of the templates below for one component, as JSON but for the root. (root, name) */}}
{{- define "vision.facts" -}}
{{- index (.root.Files.Get "files/facts.json" | fromJson).components .name | toJson -}}
{{- end -}}

{{/* Image of a component: a digest wins over a tag, the registry of mirrors over that of the images. (root, name, c) */}}
{{- define "vision.image" -}}
{{- $v := .root.Values -}}
{{- $own := printf "%s/%s" $v.image.repository .name -}}
{{- $registry := $v.global.imageRegistry | default $v.image.registry -}}
{{- $path := .c.image.repository | default $own -}}
{{- $name := $path -}}
{{- if and $registry (not .c.image.repository) -}}{{- $name = printf "%s/%s" $registry $path -}}{{- end -}}
{{- if .c.image.digest -}}
{{- printf "%s@%s" $name .c.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $name (.c.image.tag | default $v.image.tag | default .root.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* A text in which {component} stands for the service. (text, name) */}}
{{- define "vision.named" -}}
{{- .text | replace "{component}" .name -}}
{{- end -}}

{{- define "vision.serviceAccountName" -}}
{{- if .c.serviceAccount.create -}}
{{- include "vision.fullname" .root }}-{{ .name -}}
{{- else -}}
{{- .c.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* Base address of a component inside the cluster. (root, name) */}}
{{- define "vision.url" -}}
{{- $c := include "vision.component" . | fromJson -}}
http://{{ include "vision.fullname" .root }}-{{ .name }}:{{ $c.ports.http }}
{{- end -}}

{{/* Where every replica of a component is found. (root, name) */}}
{{- define "vision.replicasUrl" -}}
{{- $c := include "vision.component" . | fromJson -}}
http://{{ include "vision.fullname" .root }}-{{ .name }}-replicas:{{ $c.ports.http }}
{{- end -}}

{{/* A setting as the component will see it: its own, the common one, else the default of the code. (root, name, setting) */}}
{{- define "vision.setting" -}}
{{- $c := include "vision.component" . | fromJson -}}
{{- $facts := include "vision.facts" . | fromJson -}}
{{- if hasKey $c.settings .setting -}}{{- index $c.settings .setting -}}
{{- else if hasKey .root.Values.settings .setting -}}{{- index .root.Values.settings .setting -}}
{{- else -}}{{- index $facts.settings .setting -}}
{{- end -}}
{{- end -}}

{{/* Most replicas that a component may have. (c) */}}
{{- define "vision.mostReplicas" -}}
{{- if .c.autoscaling.hpa.enabled -}}{{- .c.autoscaling.hpa.maxReplicas -}}
{{- else if .c.autoscaling.keda.enabled -}}{{- .c.autoscaling.keda.maxReplicas -}}
{{- else -}}{{- .c.replicas -}}
{{- end -}}
{{- end -}}

{{/* Fewest replicas that a component has. (c) */}}
{{- define "vision.fewestReplicas" -}}
{{- if .c.autoscaling.hpa.enabled -}}{{- .c.autoscaling.hpa.minReplicas -}}
{{- else if .c.autoscaling.keda.enabled -}}{{- .c.autoscaling.keda.minReplicas -}}
{{- else -}}{{- .c.replicas -}}
{{- end -}}
{{- end -}}

{{/* A share such as 25% or a number of replicas, rounded up as Kubernetes does for a surge. (value, replicas) */}}
{{- define "vision.surge" -}}
{{- $text := .value | toString -}}
{{- if hasSuffix "%" $text -}}
{{- divf (mulf (trimSuffix "%" $text | float64) .replicas) 100 | ceil | int -}}
{{- else -}}
{{- $text | int -}}
{{- end -}}
{{- end -}}

{{/* A quantity such as 512Mi or 8Gi in MiB. */}}
{{- define "vision.mebibytes" -}}
{{- $text := . | toString -}}
{{- if hasSuffix "Gi" $text -}}{{- mulf (trimSuffix "Gi" $text | float64) 1024 | floor | int -}}
{{- else if hasSuffix "Mi" $text -}}{{- trimSuffix "Mi" $text | float64 | floor | int -}}
{{- else if hasSuffix "G" $text -}}{{- mulf (trimSuffix "G" $text | float64) 953.67 | floor | int -}}
{{- else if hasSuffix "M" $text -}}{{- mulf (trimSuffix "M" $text | float64) 0.9537 | floor | int -}}
{{- else -}}{{- fail (printf "A limit of memory or storage has to end in Mi, Gi, M or G: %s." $text) -}}
{{- end -}}
{{- end -}}
