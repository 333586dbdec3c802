import {
  EnumListFilter,
  EnumProperty,
  LimitField,
  NestedListProperty,
  TextField,
  TextProperty,
} from '../../../platform/http';
import { SEARCH_TYPE_NAMES, type SearchType } from '../domain/search-type';

const MAX_QUERY_LENGTH = 200;
const MAX_RESULTS = 50;

export class SearchQueryDto {
  @TextField(
    'Words, or the beginning of an id. Every word must occur in the name, e-mail address, number or code, in upper or lower case. Words of one or two characters match beginnings of words after a plain space. One character finds nothing.',
    { min: 0, max: MAX_QUERY_LENGTH, example: 'ada' },
  )
  readonly q!: string;
  @EnumListFilter(SEARCH_TYPE_NAMES, 'Only objects of these types.')
  readonly types?: readonly SearchType[];
  @LimitField('Maximum number of results.', { max: MAX_RESULTS, default: 20 })
  readonly limit?: number;
}

export class SearchResultDto {
  @EnumProperty(SEARCH_TYPE_NAMES, 'Type of the object.', 'customer')
  readonly type!: SearchType;
  @TextProperty('Id of the object.', 'cus_01h455vb4pex5vsknk084sn02q')
  readonly id!: string;
  @TextProperty('Name, number or code; the id if it has none.', 'Analytical Engines SARL')
  readonly title!: string;
  @TextProperty('Further text, such as the e-mail address.', 'ada@example.com', {
    nullable: true,
  })
  readonly detail!: string | null;
  @TextProperty('Customer to whom it belongs.', 'cus_01h455vb4pex5vsknk084sn02q', {
    nullable: true,
  })
  readonly customer_id!: string | null;
}

export class SearchResultsDto {
  @NestedListProperty(
    SearchResultDto,
    'Exact matches, then the best of up to 1,000 others of each type.',
  )
  readonly data!: readonly SearchResultDto[];
}
