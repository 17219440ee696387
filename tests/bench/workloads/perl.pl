# SPDX-License-Identifier: MIT
#
# perl.pl - mixed load: text, hashes of arrays, regular expressions, sorting
#
# The argument is the number of rounds; 10 make about 8 million events.  A
# fraction below 1 makes one round, smaller by that factor.
use strict;
use warnings;

my $seed = 1;

# Generate the same numbers on every machine.
sub rnd {
	my ($n) = @_;
	$seed = ($seed * 1103515245 + 12345) & 0x7fffffff;
	return int(($seed >> 8) % $n);
}

sub make_words {
	my ($count) = @_;
	return map {
		join '', map { chr(97 + rnd(26)) } 0 .. 2 + rnd(9)
	} 1 .. $count;
}

sub count_words {
	my ($words, $lines) = @_;
	my (%count, %where);
	for my $n (1 .. $lines) {
		my $line = join ' ',
			map { $words->[rnd(1 + rnd(4000))] } 1 .. 9;
		for my $word (split / /, $line) {
			$count{ucfirst $word}++;
			push @{ $where{$word} }, $n;
		}
	}
	my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
	return $count{ $top[0] } + @{ $where{ lc $top[0] } };
}

sub parse_records {
	my ($count) = @_;
	my %by_host;
	for my $i (1 .. $count) {
		my $line = sprintf
			'host%03d - [%02d:%02d] "GET /item/%d HTTP/1.1" %d',
			rnd(200), rnd(24), rnd(60), rnd(100000), 200 + rnd(5);
		next unless $line =~
			m{^(\S+) - \[(\d+):(\d+)\] "(\w+) (\S+) [^"]*" (\d+)};
		my %rec = (host => $1, minute => $2 * 60 + $3, path => $5,
			status => $6);
		$rec{path} =~ s{/item/(\d)}{/i/$1-};
		push @{ $by_host{ $rec{host} } }, \%rec;
	}
	my $sum = 0;
	for my $host (sort keys %by_host) {
		my @recs = sort { $a->{path} cmp $b->{path} }
			@{ $by_host{$host} };
		$sum += $recs[0]{minute} + @recs;
	}
	return $sum;
}

sub build_tree {
	my ($depth) = @_;
	return [ "leaf" . rnd(1000) ] if $depth == 0;
	return [ build_tree($depth - 1), build_tree($depth - 1), "n$depth" ];
}

sub flatten {
	my ($node) = @_;
	return $node unless ref $node;
	return '(' . join(',', map { flatten($_) } @$node) . ')';
}

my @words = make_words(4000);
my $total = 0;
my $part = $ARGV[0] < 1 ? $ARGV[0] : 1;

for my $round (1 .. $ARGV[0] / $part) {
	$total += count_words(\@words, int(4000 * $part));
	$total += parse_records(int(15000 * $part));
	$total += length flatten(build_tree(int(14 + log($part) / log(2))));
}
print "$total\n";
