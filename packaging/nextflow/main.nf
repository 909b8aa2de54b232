// A module of Nextflow (DSL 2): the tree of an alignment, with its log and results. Options come from `ext.args`, as in modules of
// nf-core. Not tested: Nextflow is in no registry that was at hand; the command was run by hand.

process MLSEARCH {
    tag "${meta.id}"
    label 'process_medium'
    conda "${moduleDir}/environment.yaml"

    input:
    tuple val(meta), path(msa), path(partitions)

    output:
    tuple val(meta), path("*.mlsearch.bestTree"), emit: tree
    tuple val(meta), path("*.mlsearch.support"), emit: support, optional: true
    tuple val(meta), path("*.mlsearch.json"), emit: result
    tuple val(meta), path("*.mlsearch.html"), emit: page, optional: true
    tuple val(meta), path("*.mlsearch.log"), emit: log
    path "versions.yml", emit: versions

    script:
    def args = task.ext.args ?: '-m auto'
    def prefix = task.ext.prefix ?: "${meta.id}"
    def genes = partitions ? "--partitions ${partitions}" : ''
    """
    mlsearch search --msa ${msa} ${genes} ${args} --threads ${task.cpus} --prefix ${prefix}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        mlsearch: \$(mlsearch --version | sed 's/^mlsearch //')
    END_VERSIONS
    """
}
