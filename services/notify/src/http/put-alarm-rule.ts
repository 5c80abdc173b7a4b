import { defaultLimits } from '@vision/contracts/limits';
import { refusalOf } from '@vision/contracts/errors';
import { paramsOf } from '@vision/contracts/ids';
import { parsePart, route } from '@vision/shared/http/route';
import { tooManyRules } from '../domain/alarm-rule.ts';
import type { Deps } from '../use-cases/deps.ts';
import { putAlarmRule } from '../use-cases/rules/put-alarm-rule.ts';
import { tooManyRuleChanges } from '../use-cases/rules/rule-changes.ts';
import { alarmRule, exampleNewRule, exampleRule, newAlarmRule, ruleBody, ruleReasons } from './alarm-rule.ts';

const path = '/v1/vision/alarm-rules/{rule_id}';

const refusedRule = (part: object) =>
  refusalOf(() => parsePart(newAlarmRule, { ...exampleNewRule, ...part }, 'body', ruleReasons));

const crossed = [
  [0, 0],
  [1, 1],
  [1, 0],
  [0, 1],
];

export const putAlarmRuleRoute = (deps: Pick<Deps, 'db' | 'signals' | 'wakeRelay' | 'ruleChanges'>) =>
  route(
    {
      operation: 'putAlarmRule',
      method: 'put',
      path,
      summary: 'Creates or replaces an alarm rule',
      description:
        'Stores the rule under a name of your own: 1 to 64 of `a-z`, `0-9`, `_`, `-`. A repeat changes nothing. The ' +
        'rule applies to running tasks within seconds. A change of anything but `name` is a new version, and closes ' +
        'the open alarms of the version before. Try a rule on stored frames first: `createAlarmBacktest`. Changes are ' +
        'limited per minute (`rule_change_rate`); repeats do not count.',
      tag: 'Alarms',
      audience: 'public',
      params: paramsOf(path),
      body: newAlarmRule,
      bodyExample: exampleNewRule,
      bodyReasons: ruleReasons,
      responses: {
        200: { description: 'Replaced, or the same as before', schema: alarmRule, example: exampleRule },
        201: { description: 'Created', schema: alarmRule, example: exampleRule },
      },
      refusalExamples: () => [
        refusedRule({ when: { kind: 'source_down', for_ms: -1 } }),
        refusedRule({ when: { ...exampleNewRule.when, region: crossed } }),
        refusedRule({ schedule: { ...exampleNewRule.schedule, time_zone: 'Mars/X' } }),
        tooManyRules(defaultLimits.alarm_rules),
        tooManyRuleChanges(24_000),
      ],
    },
    async ({ params, body: given, caller: { subject, limits = defaultLimits } }) => {
      const input = { subject, ruleId: params['rule_id'] ?? '', given, allowed: limits.alarm_rules };
      const { rule, isNew } = await putAlarmRule(deps, input);
      return { status: isNew ? 201 : 200, body: ruleBody(rule) };
    },
  );
