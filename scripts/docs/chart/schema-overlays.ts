/** The part of JSON Schema that the chart needs. */
export interface Schema {
  $schema?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  enum?: unknown[];
  default?: unknown;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  minItems?: number;
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
}

const texts: Schema = { type: 'array', items: { type: 'string', minLength: 1 } };
const objects: Schema = { type: 'array', items: { type: 'object' } };
const textMap: Schema = { type: 'object', additionalProperties: { type: 'string' } };
const quantity: Schema = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?(Ki|Mi|Gi|Ti|k|M|G|T)?$' };
const port: Schema = { type: 'integer', minimum: 1, maximum: 65535 };
const cidrs: Schema = { type: 'array', items: { type: 'string', pattern: '^[0-9a-fA-F:.]+/[0-9]+$' } };
const ports: Schema = { type: 'array', items: { type: ['string', 'integer'], pattern: '^[0-9]+(-[0-9]+)?$' } };
const share: Schema = { type: ['integer', 'string'], pattern: '^[0-9]+%?$', minimum: 0 };
const id: Schema = { type: ['integer', 'null'], minimum: 1 };
const object = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...(required.length > 0 ? { required } : {}),
});

const topic = object({
  partitions: { type: 'integer', minimum: 1 },
  replicationFactor: { type: 'integer', minimum: 1, maximum: 32_767 },
  minInsyncReplicas: { type: 'integer', minimum: 1 },
  retentionMs: { type: 'integer', minimum: -1 },
});
const store = object({ to: objects, ports: { type: 'array', items: port } });
const address: Schema = { type: 'string', pattern: '^(https?://.+)?$' };
const probe = object({
  periodSeconds: { type: 'integer', minimum: 1 },
  failureThreshold: { type: 'integer', minimum: 1 },
  timeoutSeconds: { type: 'integer', minimum: 1 },
  initialDelaySeconds: { type: 'integer', minimum: 0 },
});
const variables: Schema = { type: 'array', items: { type: 'object', required: ['name'] } };
const containers: Schema = { type: 'array', items: { type: 'object', required: ['name', 'image'] } };
const hostAliases: Schema = {
  type: 'array',
  items: object({ ip: { type: 'string', minLength: 1 }, hostnames: texts }, ['ip', 'hostnames']),
};
const dnsPolicy: Schema = { enum: ['', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'] };
const component = (path: string) => `componentDefaults.${path}`;

/** Constraints that the default of a value does not imply, by its path. */
export const overlays: Record<string, Schema> = {
  'global.imagePullSecrets': { type: 'array', items: object({ name: { type: 'string', minLength: 1 } }, ['name']) },
  commonLabels: textMap,
  commonAnnotations: textMap,
  'image.pullPolicy': { enum: ['IfNotPresent', 'Always', 'Never'] },
  'database.tls': { type: ['boolean', 'null'] },
  'database.url': { type: 'string', pattern: '^(postgres(ql)?://[^:/@]+@.+)?$' },
  'redis.url': { type: 'string', pattern: '^(rediss?://([^:/@]+@)?[^@]+)?$' },
  'redis.sentinel.addresses': { type: 'array', items: { type: 'string', pattern: '^[^,\\s]+:[0-9]+$' } },
  'kafka.brokers': { type: 'array', items: { type: 'string', pattern: '^[^,\\s]+:[0-9]+$' } },
  'kafka.sasl.mechanism': { enum: ['', 'plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'] },
  'kafka.sasl.oauth.tokenUrl': { type: 'string', pattern: '^(https://[^/@]+(/[^@]*)?)?$' },
  'kafka.topics': object({
    default: topic,
    tasks: topic,
    images: topic,
    results: topic,
    frames: topic,
    jobs: topic,
    rules: topic,
    alarms: topic,
    deadLetters: topic,
  }),
  'kafka.manageTopics': { enum: ['apply', 'check', 'none'] },
  'objectStore.endpoint': address,
  'objectStore.webIdentity.stsEndpoint': address,
  'objectStore.manageBucket': { enum: ['check', 'create', 'none'] },
  'inferenceBackend.url': address,
  'streams.allowedCidrs': cidrs,
  'streams.allowedPorts': ports,
  'streams.dnsServers': texts,
  'webhooks.allowedCidrs': cidrs,
  'webhooks.allowedPorts': ports,
  'webhooks.mqttPorts': ports,
  'webhooks.dnsServers': texts,
  'tracing.endpoint': address,
  'tracing.sampler': {
    enum: [
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ],
  },
  'tracing.samplerArg': { type: ['string', 'number'] },
  'stop.preStopSeconds': { type: 'integer', minimum: 0, maximum: 300 },
  'stop.drainDelaySeconds': { type: 'integer', minimum: 0, maximum: 300 },
  'stop.requestGraceSeconds': { type: 'integer', minimum: 1, maximum: 3600 },
  [component('image.digest')]: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
  [component('ports')]: object({ http: port, health: port, admin: port }),
  [component('replicas')]: { type: 'integer', minimum: 1 },
  [component('heapPercent')]: { type: 'integer', minimum: 5, maximum: 90 },
  [component('tmpSize')]: quantity,
  [component('settings')]: { type: 'object', additionalProperties: false },
  [component('extraEnv')]: variables,
  [component('extraEnvFrom')]: objects,
  [component('extraVolumes')]: objects,
  [component('extraVolumeMounts')]: objects,
  [component('initContainers')]: containers,
  [component('extraContainers')]: containers,
  'jobs.initContainers': containers,
  [component('resources')]: { type: 'object' },
  [component('database.pool')]: { type: 'integer', minimum: 1 },
  [component('strategy.maxSurge')]: share,
  [component('strategy.maxUnavailable')]: share,
  [component('serviceAccount.annotations')]: textMap,
  [component('serviceAccount.labels')]: textMap,
  [component('autoscaling.hpa.minReplicas')]: { type: 'integer', minimum: 1 },
  [component('autoscaling.hpa.maxReplicas')]: { type: 'integer', minimum: 1 },
  [component('autoscaling.hpa.podMetrics')]: {
    type: 'array',
    items: object({ name: { type: 'string' }, averageValue: { type: ['string', 'integer'] } }, [
      'name',
      'averageValue',
    ]),
  },
  // With a consumer scaled to zero, events would wait until KEDA's next poll.
  [component('autoscaling.keda.minReplicas')]: { type: 'integer', minimum: 1 },
  [component('autoscaling.keda.maxReplicas')]: { type: 'integer', minimum: 1 },
  [component('autoscaling.keda.triggers')]: objects,
  [component('podDisruptionBudget.maxUnavailable')]: { type: ['integer', 'string', 'null'] },
  [component('podDisruptionBudget.minAvailable')]: { type: ['integer', 'string', 'null'] },
  [component('topologySpreadConstraints')]: objects,
  [component('nodeSelector')]: textMap,
  'jobs.nodeSelector': textMap,
  'jobs.tolerations': objects,
  [component('tolerations')]: objects,
  [component('podLabels')]: textMap,
  [component('podAnnotations')]: textMap,
  [component('hostAliases')]: hostAliases,
  [component('dnsPolicy')]: dnsPolicy,
  [component('ipFamilyPolicy')]: { enum: ['', 'SingleStack', 'PreferDualStack', 'RequireDualStack'] },
  [component('ipFamilies')]: { type: 'array', items: { enum: ['IPv4', 'IPv6'] } },
  [component('sysctls')]: {
    type: 'array',
    items: object({ name: { type: 'string', minLength: 1 }, value: { type: 'string', minLength: 1 } }, [
      'name',
      'value',
    ]),
  },
  [component('startupProbe')]: probe,
  [component('readinessProbe')]: probe,
  [component('livenessProbe')]: probe,
  gatewayOnly: object({
    service: object({
      type: { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] },
      annotations: textMap,
      loadBalancerClass: { type: 'string' },
      loadBalancerSourceRanges: cidrs,
      externalTrafficPolicy: { enum: ['', 'Cluster', 'Local'] },
    }),
  }),
  'podSecurity.runAsUser': id,
  'podSecurity.runAsGroup': id,
  'podSecurity.fsGroup': id,
  'jobs.resources': { type: 'object' },
  'jobs.extraEnv': variables,
  'jobs.extraEnvFrom': objects,
  'jobs.hostAliases': hostAliases,
  'jobs.dnsPolicy': dnsPolicy,
  'jobs.podLabels': textMap,
  'jobs.podAnnotations': textMap,
  'ingress.controller': { enum: ['', 'haproxy', 'traefik', 'nginx', 'ingress-nginx', 'alb'] },
  'ingress.annotations': textMap,
  'ingress.extraHosts': {
    type: 'array',
    items: object({ host: { type: 'string', minLength: 1 }, tlsSecretName: { type: 'string' } }, ['host']),
  },
  'httpRoute.parentRefs': { type: 'array', items: { type: 'object', required: ['name'] } },
  'httpRoute.hostnames': texts,
  'httpRoute.annotations': textMap,
  'networkPolicy.gatewayFrom': objects,
  'networkPolicy.adminFrom': objects,
  'networkPolicy.metricsFrom': objects,
  'networkPolicy.dns': store,
  'networkPolicy.stores.database': store,
  'networkPolicy.stores.redis': store,
  'networkPolicy.stores.kafka': store,
  'networkPolicy.stores.kafkaTokens': store,
  'networkPolicy.stores.objectStore': store,
  'networkPolicy.stores.tracing': store,
  'networkPolicy.stores.modelServers': store,
  'networkPolicy.stores.inferenceBackend': store,
  'networkPolicy.notPublic': texts,
  'metrics.podMonitor.interval': { type: 'string', pattern: '^[0-9]+(s|m)$' },
  'metrics.podMonitor.labels': textMap,
  'metrics.prometheusRule.labels': textMap,
  'metrics.dashboards.labels': textMap,
  'metrics.dashboards.annotations': textMap,
  extraObjects: { type: 'array', items: { type: ['object', 'string'] } },
};
