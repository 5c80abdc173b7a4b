import { PROMETHEUS } from './datasources.ts';
import { gauge, grown, sum } from './promql.ts';

interface Event {
  name: string;
  colour: string;
  /** 1 or more while it happens. */
  expr: string;
  title: string;
  text: string;
}

const ACTS = 'vision_gateway_operator_acts_total';
const runs = (offset = '') => `count by (service, version, commit) (${gauge('vision_build_info')}${offset})`;
const acts = (matcher: string) => `${sum('action', grown(gauge(ACTS, matcher), '2m'))} > 0`;

const events: Event[] = [
  {
    name: 'Rollouts',
    colour: 'blue',
    expr: `${runs()} unless ${runs(' offset 10m')}`,
    title: 'Rollout of {{service}}',
    text: '{{version}} {{commit}}',
  },
  {
    name: 'Maintenance',
    colour: 'orange',
    expr: acts('action="maintenance.set"'),
    title: 'Maintenance switched',
    text: 'visionctl audit says who switched it and why',
  },
  {
    name: 'Acts of operators',
    colour: 'purple',
    expr: acts('action!="maintenance.set"'),
    title: '{{action}}',
    text: 'visionctl audit says who did it',
  },
  {
    name: 'Critical alerts',
    colour: 'red',
    expr: `max by (alertname) (${gauge('ALERTS', 'alertname=~"Vision.+"', 'alertstate="firing"', 'severity="critical"')})`,
    title: '{{alertname}}',
    text: 'docs/runbooks has its page',
  },
];

/** What changed, drawn into every panel over time. */
export const annotations = events.map(({ name, colour, expr, title, text }) => ({
  name,
  datasource: PROMETHEUS,
  enable: true,
  iconColor: colour,
  target: { refId: 'Anno', expr, range: true, interval: '60s' },
  titleFormat: title,
  textFormat: text,
}));

export const annotationExpressions = events.map(({ expr }) => expr);
