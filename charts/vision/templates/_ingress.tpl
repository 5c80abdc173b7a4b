{{/*
Body size and timeouts in the words of a controller. The largest body is a video (FILE_MAX_BYTES) and the form around
it; uploads are passed on as they come.
*/}}
{{- define "vision.ingressAnnotations" -}}
{{- $idle := .Values.ingress.idleTimeoutSeconds -}}
{{- $bytes := include "vision.setting" (dict "root" . "name" "inference" "setting" "FILE_MAX_BYTES") | int64 -}}
{{- $body := printf "%dm" (add (div $bytes 1048576) 2) -}}
{{- $controller := .Values.ingress.controller -}}
{{- if eq $controller "haproxy" -}}
haproxy.org/timeout-server: {{ $idle }}s
haproxy.org/timeout-client: {{ $idle }}s
{{- else if eq $controller "nginx" -}}
nginx.org/client-max-body-size: {{ $body }}
nginx.org/proxy-buffering: 'false'
nginx.org/proxy-read-timeout: {{ $idle }}s
nginx.org/proxy-send-timeout: {{ $idle }}s
nginx.org/location-snippets: proxy_request_buffering off;
{{- else if eq $controller "ingress-nginx" -}}
nginx.ingress.kubernetes.io/proxy-body-size: {{ $body }}
nginx.ingress.kubernetes.io/proxy-request-buffering: 'off'
nginx.ingress.kubernetes.io/proxy-buffering: 'off'
nginx.ingress.kubernetes.io/proxy-read-timeout: {{ $idle | quote }}
nginx.ingress.kubernetes.io/proxy-send-timeout: {{ $idle | quote }}
{{- else if eq $controller "alb" -}}
alb.ingress.kubernetes.io/target-type: ip
alb.ingress.kubernetes.io/load-balancer-attributes: idle_timeout.timeout_seconds={{ $idle }}
alb.ingress.kubernetes.io/target-group-attributes: deregistration_delay.timeout_seconds={{ add .Values.stop.preStopSeconds .Values.stop.drainDelaySeconds .Values.stop.requestGraceSeconds }}
{{- $c := include "vision.component" (dict "root" . "name" "gateway") | fromJson }}
alb.ingress.kubernetes.io/healthcheck-port: {{ $c.ports.health | quote }}
alb.ingress.kubernetes.io/healthcheck-path: /health/ready
{{- end -}}
{{- end -}}
