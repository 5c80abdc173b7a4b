{{/* Secrets: which one holds what, and those that this chart makes. */}}

{{/* Name of the Secret that this chart makes. */}}
{{- define "vision.generatedName" -}}
{{ include "vision.fullname" . }}-generated-secrets
{{- end -}}

{{/* The Secret of an entry of `secrets`; empty when there is none. (root, entry) */}}
{{- define "vision.secretOf" -}}
{{- $secrets := .root.Values.secrets -}}
{{- $entry := index $secrets .entry -}}
{{- if $entry.existingSecret -}}{{- $entry.existingSecret -}}
{{- else if eq .entry "inferenceToken" -}}
{{- else if and (has .entry (list "linkKeys" "webhookKeys")) $secrets.existingSecret -}}
{{- else if $secrets.existingSecret -}}{{- $secrets.existingSecret -}}
{{- else if $secrets.generate -}}{{- include "vision.generatedName" .root -}}
{{- end -}}
{{- end -}}

{{/* The entries that every installation needs. */}}
{{- define "vision.neededSecrets" -}}
adminToken apiKeyPeppers streamUrlKey tasksCursorKeys resultsCursorKeys notifyCursorKeys gatewayServiceKey tasksServiceKey imagesServiceKey resultsServiceKey servicePublicKeys
{{- end -}}

{{/* Whether any entry is left to the generated Secret. Without keys of links or webhooks
there are none, so they are not needed. */}}
{{- define "vision.generates" -}}
{{- $root := . -}}
{{- if .Values.secrets.generate -}}
{{- range concat (splitList " " (include "vision.neededSecrets" .)) (list "linkKeys" "webhookKeys") -}}
{{- if eq (include "vision.secretOf" (dict "root" $root "entry" .)) (include "vision.generatedName" $root) -}}x{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
The data of the generated Secret, as JSON: what the cluster has of it stays, what is missing is made. Computed once in a
render, so that the Secret and the annotations that follow it agree.
*/}}
{{- define "vision.generatedData" -}}
{{- $cache := .Values.secrets -}}
{{- if not (hasKey $cache "_data") -}}
{{- $found := (lookup "v1" "Secret" .Release.Namespace (include "vision.generatedName" .)).data | default dict -}}
{{- if and .Release.IsUpgrade (not $found) -}}
{{- fail (printf "The Secret %s of the first installation cannot be found: restore it, or name your own in secrets.existingSecret. New secrets would lose every API key." (include "vision.generatedName" .)) -}}
{{- end -}}
{{- $data := dict -}}
{{- range $entry, $value := include "vision.freshSecrets" . | fromJson -}}
{{- $key := (index $cache $entry).key -}}
{{- $_ := set $data $key (index $found $key | default ($value | b64enc)) -}}
{{- end -}}
{{- $publicKey := $cache.servicePublicKeys.key -}}
{{- range $service := list "gateway" "tasks" "images" "results" -}}
{{- $key := (index $cache (printf "%sServiceKey" $service)).key -}}
{{- if and $found (ne (hasKey $found $key) (hasKey $found $publicKey)) -}}
{{- fail (printf "The Secret %s has only one of %s and %s: they belong together." (include "vision.generatedName" $) $key $publicKey) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $cache "_data" (merge $data $found) -}}
{{- end -}}
{{- $cache._data | toJson -}}
{{- end -}}

{{/* New values of all entries, as JSON. */}}
{{- define "vision.freshSecrets" -}}
{{- $fresh := dict
  "adminToken" (randAlphaNum 40)
  "apiKeyPeppers" (printf "1:%s" (randBytes 32))
  "streamUrlKey" (printf "1:%s" (randBytes 32))
  "tasksCursorKeys" (printf "1:%s" (randBytes 32))
  "resultsCursorKeys" (randAlphaNum 48)
  "notifyCursorKeys" (randAlphaNum 48)
  "linkKeys" (printf "1:%s" (randBytes 32))
  "webhookKeys" (printf "1:%s" (randBytes 32)) -}}
{{- $public := list -}}
{{- range $service := list "gateway" "tasks" "images" "results" -}}
{{- $pair := include "vision.keyPair" . | fromJson -}}
{{- $_ := set $fresh (printf "%sServiceKey" $service) $pair.private -}}
{{- $public = append $public (printf "%s:%s" $service $pair.public) -}}
{{- end -}}
{{- $_ := set $fresh "servicePublicKeys" (join "," $public) -}}
{{- $fresh | toJson -}}
{{- end -}}

{{/*
A new Ed25519 key pair in the form of SERVICE_KEY and SERVICE_PUBLIC_KEYS: 32 bytes each in base64url. Of the private
key in PKCS #8 they are the last 32 of 48; the public ones stand in a certificate of the key behind the head that RFC
8410 gives them.
*/}}
{{- define "vision.keyPair" -}}
{{- $pem := genPrivateKey "ed25519" -}}
{{- $der := $pem | trim | splitList "\n" | rest | initial | join "" | b64dec -}}
{{- $certificate := (genSelfSignedCertWithKey "vision" (list) (list) 1 $pem).Cert -}}
{{- $certificateDer := $certificate | trim | splitList "\n" | rest | initial | join "" | b64dec -}}
{{- $public := index (splitList (b64dec "MCowBQYDK2VwAyEA") $certificateDer) 1 | substr 0 32 -}}
{{- dict "private" (include "vision.base64url" (substr 16 48 $der)) "public" (include "vision.base64url" $public) | toJson -}}
{{- end -}}

{{- define "vision.base64url" -}}
{{- . | b64enc | replace "+" "-" | replace "/" "_" | trimAll "=" -}}
{{- end -}}
