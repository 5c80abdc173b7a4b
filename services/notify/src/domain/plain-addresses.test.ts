import { expect, test } from '@jest/globals';
import { createAddressPolicy } from '@vision/shared/net/address-policy';
import { parseMqttUrl } from './mqtt-broker.ts';
import { parseWebhookUrl } from './webhook-url.ts';

const policy = createAddressPolicy([], { isAllowedPort: () => true });
const webhook = (text: string, allowsHttp: boolean) => parseWebhookUrl(text, { policy, allowsHttp }).href;
const broker = (text: string, allowsPlain: boolean) => parseMqttUrl(text, { policy, allowsPlain }).href;

test.each(['http://hooks.example.org/x', 'HTTP://hooks.example.org/x', 'http://hooks.example.org:443/x'])(
  'a webhook without TLS is refused unless the operator allows it: %s',
  (text) => {
    const reason = 'webhook_url_invalid';
    expect(() => webhook(text, false)).toThrow(expect.objectContaining({ reason, details: { field: 'url' } }));
    expect(webhook(text, true)).toMatch(/^http:/);
    expect(webhook(text.replace(/^http/i, 'https'), false)).toMatch(/^https:/);
  },
);

test.each(['mqtt://broker.example.org', 'MQTT://broker.example.org', 'mqtt://broker.example.org:8883'])(
  'a broker without TLS is refused unless the operator allows it: %s',
  (text) => {
    const reason = 'mqtt_url_invalid';
    expect(() => broker(text, false)).toThrow(expect.objectContaining({ reason, details: { field: 'url' } }));
    expect(broker(text, true)).toMatch(/^mqtt:/);
    expect(broker(text.replace(/^mqtt/i, 'mqtts'), false)).toMatch(/^mqtts:/);
  },
);
