import { defineEvent } from '../../platform/outbox';
import { AddonDto, toAddonDto } from './dto/addon.dto';
import { PlanDto, toPlanDto } from './dto/plan.dto';

export const addonCreated = defineEvent({
  type: 'addon.created',
  meaning: 'An add-on was created.',
  dto: AddonDto,
  toDto: toAddonDto,
});

export const addonUpdated = defineEvent({
  type: 'addon.updated',
  meaning: 'The name or the metadata of an add-on changed.',
  dto: AddonDto,
  toDto: toAddonDto,
});

export const addonArchived = defineEvent({
  type: 'addon.archived',
  meaning: 'An add-on was archived. The event contains its last state.',
  dto: AddonDto,
  toDto: toAddonDto,
});

export const planCreated = defineEvent({
  type: 'plan.created',
  meaning: 'A plan was created, with its first version.',
  dto: PlanDto,
  toDto: toPlanDto,
});

export const planUpdated = defineEvent({
  type: 'plan.updated',
  meaning: 'The name or the metadata of a plan changed.',
  dto: PlanDto,
  toDto: toPlanDto,
});

export const planVersionActivated = defineEvent({
  type: 'plan.version_activated',
  meaning: 'A new version of a plan became active. Running subscriptions keep their version.',
  dto: PlanDto,
  toDto: toPlanDto,
});

export const planArchived = defineEvent({
  type: 'plan.archived',
  meaning: 'A plan was archived. The event contains its last state.',
  dto: PlanDto,
  toDto: toPlanDto,
});
