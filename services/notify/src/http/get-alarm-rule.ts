import { paramsOf } from '@vision/contracts/ids';
import { route } from '@vision/shared/http/route';
import { ruleNotFound } from '../domain/alarm-rule.ts';
import type { Deps } from '../use-cases/deps.ts';
import { getAlarmRule } from '../use-cases/rules/get-alarm-rule.ts';
import { exampleRule, ruleBody, ruleWithVerdicts } from './alarm-rule.ts';

const path = '/v1/vision/alarm-rules/{rule_id}';

export const getAlarmRuleRoute = (deps: Pick<Deps, 'db'>) =>
  route(
    {
      operation: 'getAlarmRule',
      method: 'get',
      path,
      summary: 'Returns an alarm rule',
      description: 'Returns the rule, and counts your verdicts on its alarms of the last 7 days.',
      tag: 'Alarms',
      audience: 'public',
      params: paramsOf(path),
      responses: {
        200: {
          description: 'The rule',
          schema: ruleWithVerdicts,
          example: { ...exampleRule, verdicts: { none: 3, confirmed: 12, false_alarm: 1 } },
        },
      },
      refusalExamples: () => [ruleNotFound()],
    },
    async ({ params, caller: { subject } }) => {
      const { rule, verdicts } = await getAlarmRule(deps, { subject, ruleId: params['rule_id'] ?? '' });
      return { status: 200, body: { ...ruleBody(rule), verdicts } };
    },
  );
