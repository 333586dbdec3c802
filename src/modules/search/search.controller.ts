import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Caller, type Principal } from '../../platform/access';
import { Operation, toDto } from '../../platform/http';
import { SearchQueryDto, SearchResultDto, SearchResultsDto } from './dto/search.dto';
import { SearchService } from './search.service';

const DEFAULT_RESULTS = 20;

@ApiTags('Search')
@Controller('v1/search')
export class SearchController {
  constructor(private readonly searchService: SearchService) {}

  @Get()
  @Operation({
    summary: 'Search all objects',
    description:
      'Finds customers by name, e-mail address and external id, invoices by number, plans, add-ons, coupons and meters by ' +
      'name and code, and every object by the beginning of its id. Returns only types that the caller may read.',
    access: 'search:read',
    answer: SearchResultsDto,
  })
  async search(
    @Query() { q, types, limit = DEFAULT_RESULTS }: SearchQueryDto,
    @Caller() { scopes }: Principal,
  ): Promise<SearchResultsDto> {
    const found = await this.searchService.search(q, types ?? null, scopes, limit);
    return { data: found.map((one) => toDto(SearchResultDto, one)) };
  }
}
