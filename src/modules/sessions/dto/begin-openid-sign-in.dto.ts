import { PatternField } from '../../../platform/http';

/**
 * A path of this service. Backslashes and a leading `//` are refused, because browsers read them as the start of
 * another host's name.
 */
const OWN_PATH = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]{0,499}$/;

export class BeginOpenIdSignInDto {
  @PatternField(
    OWN_PATH,
    'must be a path of this service, of at most 500 characters',
    'Path of this service to open afterwards. Default: `/studio/`.',
    { optional: true, example: '/docs' },
  )
  readonly return_to?: string;
}
